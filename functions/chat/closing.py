"""Ends a run whose process is gone, with what it had told: whoever meets such a run may do it."""

from contextlib import suppress
from datetime import datetime

from functions.chat import guards
from functions.chat.told import message_of, text_of
from shared.data.runs import Runs
from shared.domain.chat import Message
from shared.domain.errors import PreconditionFailed, Unavailable
from shared.domain.ids import RunId, UserId
from shared.domain.run import Batch, Run, Said, run_of

UNSAVED = 1_000_000
"""More events than a process can have told without writing them down: the end's number is behind
every number that a client may have seen."""


async def close_run(runs: Runs, uid: UserId, run_id: RunId, *, now: datetime) -> None:
    """Make sure that a run has its end. Raises Unavailable while somebody works on it."""
    run = await settled(runs, uid, run_id, now=now)
    if run is not None and run.outcome is None:
        raise Unavailable("The run goes on")


async def settled(runs: Runs, uid: UserId, run_id: RunId, *, now: datetime) -> Run | None:
    """Return a run that goes on or has its end, closed here if need be.

    None for an unknown one, and for one that cannot end any more: its chat was deleted.
    """
    run = await runs.get(uid, run_id, now)
    if run is not None and run.has_lapsed(now):
        await close(runs, uid, run, now=now)
        run = await runs.get(uid, run_id, now)
    return None if run is not None and run.has_lapsed(now) else run


async def close_unanswered(runs: Runs, uid: UserId, newest: Message, *, now: datetime) -> bool:
    """Close the run of a chat's newest message, if that is a question nobody answers any more."""
    run_id = run_of(newest)
    run = await runs.get(uid, run_id, now) if run_id else None
    if run is None or not run.has_lapsed(now):
        return False
    await close(runs, uid, run, now=now)
    return True


async def close(runs: Runs, uid: UserId, run: Run, *, now: datetime) -> None:
    """End a lapsed run as interrupted; if somebody else is first, theirs is the end."""
    batches = await runs.batches(uid, run.id)
    told = [event for batch in batches for event in batch.events]
    note = [] if text_of(told) else [Said(guards.INTERRUPTED)]
    saved = batches[-1].last_seq if batches else 0
    last = Batch(
        position=saved + 1,
        events=note,
        last_seq=saved + UNSAVED + len(note) + 1,
        writer="",
        closing=True,
    )
    answer = message_of(run, [*told, *note], "interrupted", now)
    with suppress(PreconditionFailed):
        await runs.finish(uid, run, answer, outcome="interrupted", batches=[last], unchanged=True)
