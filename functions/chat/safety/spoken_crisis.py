"""Audit of spoken turns: a crisis that the model that speaks met alone is logged, and its client told."""

from functions.chat.deps import ChatDeps
from functions.chat.safety.crisis_verdict import judge_alone
from functions.chat.safety.find_danger import find_danger
from functions.chat.safety.read_question import judge_text
from shared import telemetry
from shared.domain.chats.chat import Message
from shared.domain.chats.crisis import CrisisVerdict
from shared.domain.chats.run import get_answering_run_id
from shared.domain.chats.storage_mode import is_incognito
from shared.domain.errors import Unavailable
from shared.domain.ids import RunId, UserId
from shared.safety.crisis_plan import build_plan


async def audit_spoken(deps: ChatDeps, uid: UserId, question: Message) -> str:
    """Judge what the owner said; return the crisis plan, or nothing. An event is logged once."""
    verdict = await _judge(deps, uid, question.text)
    run_id = get_answering_run_id(question)
    if verdict.route != "crisis" or run_id is None:
        return ""
    await _log(deps, uid, question, run_id, verdict)
    profile = await deps.stores.profiles.get(uid)
    return build_plan(verdict, profile.language)


async def _judge(deps: ChatDeps, uid: UserId, text: str) -> CrisisVerdict:
    finding = await find_danger(deps, uid, text)
    if finding.certainty == "certain":
        return judge_alone(finding)
    return await judge_text(deps, uid, text, finding, earlier=())


async def _log(
    deps: ChatDeps, uid: UserId, question: Message, run_id: RunId, verdict: CrisisVerdict
) -> None:
    """Log what was missed; a log that is down hides no plan."""
    try:
        await deps.crisis_log.record(
            uid,
            question.session_id,
            run_id,
            verdict,
            now=deps.clock.now(),
            missed="missed_by_voice",
            names_user=not is_incognito(question.session_id),
        )
    except Unavailable:
        telemetry.warning("crisis_not_logged")
