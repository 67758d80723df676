"""Lapsed runs: a run whose process died is closed, as interrupted, by any process that reads it."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from functions.chat import user_texts
from functions.chat.runs.build_message import build_answers
from functions.chat.runs.journal import join_text
from shared.data.alternatives import build_alternative_writes
from shared.data.runs import Runs
from shared.domain.branches import find_answering_run
from shared.domain.chat import Message, Session
from shared.domain.errors import PreconditionFailed, Unavailable
from shared.domain.ids import RunId, UserId
from shared.domain.run import (
    AnswerText,
    Batch,
    JournalPlace,
    Run,
    RunEvent,
    VoiceEnded,
    VoicesStarted,
)
from shared.domain.voices import (
    count_voices,
    find_outcomes,
    list_unended,
    select_voice,
    tag_event,
)

SEQ_GAP = 1_000_000
"""More events than a process can have sent without storing them, so that the number of the end is
higher than any number that a client may have seen."""


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
        await close_as_interrupted(runs, uid, run, now=now)
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
    await close_as_interrupted(runs, uid, run, now=now)
    return True


async def close_as_interrupted(runs: Runs, uid: UserId, run: Run, *, now: datetime) -> None:
    """End a lapsed run as interrupted, unless another process ends it first."""
    batches = await runs.list_batches(uid, run.id)
    events = [event for batch in batches for event in batch.events]
    notice_events = _build_end_events(run, events)
    saved_seq = batches[-1].last_seq if batches else 0
    place = batches[-1].next_place if batches else JournalPlace()
    closing_batch = Batch(
        position=place.position,
        rank=place.rank,
        events=notice_events,
        last_seq=saved_seq + SEQ_GAP + len(notice_events) + 1,
        writer="",
        closing=True,
    )
    outcomes = find_outcomes(events, run, unended="interrupted")
    answers = build_answers(run, [*events, *notice_events], outcomes, now)
    with suppress(PreconditionFailed):
        await runs.finish(
            uid,
            run,
            answers.main,
            outcome=answers.main.metadata["outcome"],
            batches=[closing_batch],
            if_unchanged=True,
            also=build_alternative_writes(uid, answers.main.id, answers.alternatives),
        )


def _build_end_events(run: Run, events: Sequence[RunEvent]) -> list[RunEvent]:
    """Return what the owner reads of each voice without text, and the ends that are missing."""
    begin: list[RunEvent] = [] if events or not run.voices else [VoicesStarted(run.voices)]
    notice = AnswerText(user_texts.ANSWER_INTERRUPTED)
    silent_voices = [
        voice for voice in range(count_voices(run)) if not join_text(select_voice(events, voice))
    ]
    return [
        *begin,
        *(tag_event(notice, voice) for voice in silent_voices),
        *(tag_event(VoiceEnded("interrupted"), voice) for voice in list_unended(events, run)),
    ]
