"""Lapsed runs: a run whose process died is closed, as interrupted, by any process that reads it."""

from datetime import datetime

from shared.data.chats.runs import Runs
from shared.domain.chats.branches import find_answering_run
from shared.domain.chats.chat import Message, Session
from shared.domain.chats.run import Run
from shared.domain.errors import Unavailable
from shared.domain.ids import RunId, UserId


async def require_closed(runs: Runs, uid: UserId, run_id: RunId, *, now: datetime) -> None:
    """Close a run if it lapsed. Raises Unavailable while a process works on it."""
    run = await load_closing_lapsed(runs, uid, run_id, now=now)
    if run is not None and run.outcome is None:
        raise Unavailable("The run is still in progress")


async def load_closing_lapsed(
    runs: Runs, uid: UserId, run_id: RunId, *, now: datetime
) -> Run | None:
    """Return a run that is in progress or ended; close it first if it lapsed.

    None for an unknown run, and for one that cannot be closed because its chat was deleted.
    """
    run = await runs.get(uid, run_id, now)
    if run is not None and run.has_lapsed(now):
        await _close(runs, uid, run, now)
        run = await runs.get(uid, run_id, now)
    return None if run is not None and run.has_lapsed(now) else run


async def close_unanswered_run(
    runs: Runs, uid: UserId, session: Session, newest: Message, *, now: datetime
) -> bool:
    """Close the lapsed run of an unanswered newest message; tell whether there was one."""
    run_id = find_answering_run(session, newest)
    run = await runs.get(uid, run_id, now) if run_id else None
    if run is None or not run.has_lapsed(now):
        return False
    await _close(runs, uid, run, now)
    return True


async def _close(runs: Runs, uid: UserId, run: Run, now: datetime) -> None:
    """Import what closes a run when one has lapsed: few chats that are opened have such a run."""
    from functions.chat.runs.close_run import close_as_interrupted

    await close_as_interrupted(runs, uid, run, now=now)
