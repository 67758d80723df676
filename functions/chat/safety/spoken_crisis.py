"""Audit of spoken turns: a crisis that the model that speaks met alone is logged, and its client told."""

from functions.chat.deps import ChatDeps
from shared.domain.chats.chat import Message
from shared.domain.chats.run import get_answering_run_id
from shared.domain.ids import UserId
from shared.reading.own_words import judge_own_words, write_plan


async def audit_spoken(deps: ChatDeps, uid: UserId, question: Message) -> str:
    """Judge what the owner said; return the crisis plan, or nothing. An event is logged once."""
    wait_s = deps.limits.wait_reading_s(deps.model.describe("fast"))
    verdict = await judge_own_words(deps, uid, question.text, wait_s=wait_s)
    run_id = get_answering_run_id(question)
    if run_id is None:
        return ""
    return await write_plan(
        deps, uid, question.session_id, run_id, verdict, missed="missed_by_voice"
    )
