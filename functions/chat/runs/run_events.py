"""Event stream of a run, from its start or to resume it, out of memory or out of the store.

Also called: resumable stream, reconnection, Last-Event-ID.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Protocol

from functions.chat.runs.journal import Journal, merge_text
from functions.chat.runs.lapsed_runs import load_closing_lapsed
from functions.chat.runs.run_registry import RunRegistry
from shared.data.stores import Stores
from shared.domain.chats.run import (
    AnswerText,
    Batch,
    JournalPlace,
    Run,
    RunEnded,
    SequencedEvent,
)
from shared.domain.errors import NotFound, Unavailable
from shared.domain.ids import RunId, UserId
from shared.domain.value import value
from shared.ports import Clock
from shared.resilience.retry import retry

POLL_S = 0.5
MAX_READ_FAILURES = 20
"""Consecutive failures of the store after which a reader gives up."""


class RunEventsDeps(Protocol):
    """The part of the function's dependencies that reading a run needs."""

    @property
    def clock(self) -> Clock: ...

    @property
    def stores(self) -> Stores: ...

    @property
    def active_runs(self) -> RunRegistry: ...


@value
class _StoredEvents:
    """Result of one read; `end` is set when no more events will come."""

    batches: Sequence[Batch]
    end: SequencedEvent | None = None


async def stream_events(
    deps: RunEventsDeps,
    uid: UserId,
    run_id: RunId,
    *,
    journal: Journal | None = None,
    split_after_seq: int = 0,
) -> AsyncGenerator[SequencedEvent, None]:
    """Yield a run's events from the first one to the end, and what follows it while its process lives.

    No piece of text reaches over `split_after_seq`. Raises NotFound when neither the run nor its
    message is stored.
    """
    active_run = deps.active_runs.find(uid, run_id)
    journal = journal or (active_run.journal if active_run else None)
    sent_seq, has_ended = 0, False
    if journal is not None:
        async with aclosing(journal.tail(split_after_seq=split_after_seq)) as events:
            async for numbered in events:
                yield numbered
                has_ended = has_ended or isinstance(numbered.event, RunEnded)
                sent_seq = numbered.seq
    if has_ended:
        return
    async with aclosing(
        _stream_stored(deps, uid, run_id, sent_seq=sent_seq, split_after_seq=split_after_seq)
    ) as events:
        async for numbered in events:
            yield numbered


async def _stream_stored(
    deps: RunEventsDeps, uid: UserId, run_id: RunId, *, sent_seq: int, split_after_seq: int
) -> AsyncGenerator[SequencedEvent, None]:
    place, is_signalled = None, False
    while True:
        stored_events = await retry(
            partial(_read_stored, deps, uid, run_id, after=place),
            sleep=deps.clock.sleep,
            attempts=MAX_READ_FAILURES + 1,
            backoff=lambda *_: POLL_S,
        )
        for batch in stored_events.batches:
            place = batch.place
            for numbered in _select_unsent(batch, sent_seq, split_after_seq):
                yield numbered
        if stored_events.end is not None:
            yield stored_events.end
            return
        is_signalled = is_signalled or await _ask_to_store_sooner(deps, uid, run_id)
        await deps.clock.sleep(POLL_S)


async def _ask_to_store_sooner(deps: RunEventsDeps, uid: UserId, run_id: RunId) -> bool:
    """Tell the process of a run that somebody follows it here; what fails is tried with the next poll."""
    try:
        await deps.stores.runs.send_signal(uid, run_id, "follow")
    except (NotFound, Unavailable):
        return False
    return True


async def _read_stored(
    deps: RunEventsDeps, uid: UserId, run_id: RunId, *, after: JournalPlace | None
) -> _StoredEvents:
    """Read the run before its batches: if it has ended, all of its events are stored by then."""
    now = deps.clock.now()
    run = await load_closing_lapsed(deps.stores.runs, uid, run_id, now=now)
    if run is None or not run.has_journal(now):
        return await _read_message_only(deps, uid, run_id)
    return _StoredEvents(
        batches=await deps.stores.runs.list_batches(uid, run_id, after=after),
        end=await _build_end(deps, uid, run),
    )


async def _build_end(deps: RunEventsDeps, uid: UserId, run: Run) -> SequencedEvent | None:
    if run.outcome is None:
        return None
    return SequencedEvent(
        run.last_seq, RunEnded(await deps.stores.runs.get_answer(uid, run.id), run.outcome)
    )


async def _read_message_only(deps: RunEventsDeps, uid: UserId, run_id: RunId) -> _StoredEvents:
    """Build the events of an answer from its message, once the journal expired."""
    message = await deps.stores.runs.get_answer(uid, run_id)
    text_event = AnswerText(message.marked_text or message.text)
    batch = Batch(position=1, events=[text_event], last_seq=2, writer="", closing=True)
    outcome = message.metadata.get("outcome", "completed")
    return _StoredEvents(batches=[batch], end=SequencedEvent(2, RunEnded(message, outcome)))


def _select_unsent(batch: Batch, sent_seq: int, split_after_seq: int) -> Iterator[SequencedEvent]:
    sent_count = max(0, sent_seq - batch.first_seq + 1)
    return merge_text(
        batch.events[sent_count:],
        first=batch.first_seq + sent_count,
        split_after_seq=split_after_seq,
    )
