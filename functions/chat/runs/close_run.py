"""Closing of a run whose process died: it ends as interrupted, with what it said so far."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from functions.chat import user_texts
from functions.chat.runs.build_message import build_answers
from functions.chat.runs.journal import join_text
from shared.data.chats.alternatives import build_alternative_writes
from shared.data.chats.runs import Runs
from shared.domain.chats.run import (
    Batch,
    JournalPlace,
    OwnText,
    Run,
    RunEvent,
    VoiceEnded,
    VoicesStarted,
)
from shared.domain.chats.voices import (
    count_voices,
    find_outcomes,
    list_unended,
    select_voice,
    tag_event,
)
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import UserId

SEQ_GAP = 1_000_000
"""More events than a process can have sent without storing them, so that the number of the end is
higher than any number that a client may have seen."""


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
    notice = OwnText(user_texts.ANSWER_INTERRUPTED)
    silent_voices = [
        voice for voice in range(count_voices(run)) if not join_text(select_voice(events, voice))
    ]
    return [
        *begin,
        *(tag_event(notice, voice) for voice in silent_voices),
        *(tag_event(VoiceEnded("interrupted"), voice) for voice in list_unended(events, run)),
    ]
