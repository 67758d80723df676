"""Crisis in a sealed chat that the server cannot read: its writer gets the plan before anything is sent again."""

from functions.chat.deps import ChatDeps
from functions.chat.safety.crisis_verdict import judge_alone
from functions.chat.safety.find_danger import find_danger
from shared import telemetry
from shared.domain.errors import Unavailable
from shared.domain.ids import RunId, SessionId, UserId
from shared.safety.crisis_plan import build_plan


async def write_plan(
    deps: ChatDeps, uid: UserId, session_id: SessionId, run_id: RunId, text: str
) -> str:
    """Return the plan where rules and examples find a crisis, and log it; else nothing."""
    verdict = judge_alone(await find_danger(deps, uid, text))
    if verdict.route != "crisis":
        return ""
    try:
        await deps.crisis_log.record(uid, session_id, run_id, verdict, now=deps.clock.now())
        language = (await deps.stores.profiles.get(uid)).language
    except Unavailable:
        telemetry.warning("crisis_not_logged")
        language = None
    return build_plan(verdict, language)
