"""Crisis in a sealed chat that the server cannot read: its writer gets the plan before anything is sent again."""

from functions.chat.deps import ChatDeps
from shared.domain.ids import RunId, SessionId, UserId
from shared.reading import own_words
from shared.reading.crisis_verdict import judge_alone
from shared.reading.find_danger import find_danger


async def write_plan(
    deps: ChatDeps, uid: UserId, session_id: SessionId, run_id: RunId, text: str
) -> str:
    """Return the plan where rules and examples find a crisis, and log it; else nothing."""
    verdict = judge_alone(await find_danger(deps, uid, text))
    return await own_words.write_plan(deps, uid, session_id, run_id, verdict)
