"""Tells a run to whoever asks, wherever it lives: from this process's memory, or from the store."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, suppress

from functions.chat.closing import settled
from functions.chat.journal import Journal, joined
from functions.chat.wiring import ChatDeps
from shared.domain.errors import Unavailable
from shared.domain.ids import RunId, UserId
from shared.domain.run import Batch, Ended, Numbered, Run, Said
from shared.domain.value import value

POLL_S = 0.5
PATIENCE = 20
"""How often in a row the store may fail to answer before a reader gives up."""


@value
class _News:
    """What one look into the store finds; `end` is there when nothing more will come."""

    batches: Sequence[Batch]
    end: Numbered | None = None


async def follow(
    deps: ChatDeps, uid: UserId, run_id: RunId, *, journal: Journal | None = None, apart: int = 0
) -> AsyncGenerator[Numbered, None]:
    """Yield a run's events from the first one on, to its end; no piece of text reaches over `apart`.

    Raises NotFound where neither the run nor its message is kept.
    """
    live = deps.live.find(uid, run_id)
    journal = journal or (live.journal if live else None)
    told = 0
    if journal is not None:
        async with aclosing(journal.tail(apart=apart)) as events:
            async for numbered in events:
                yield numbered
                if isinstance(numbered.event, Ended):
                    return
                told = numbered.seq
    async with aclosing(_stored(deps, uid, run_id, told=told, apart=apart)) as events:
        async for numbered in events:
            yield numbered


async def _stored(
    deps: ChatDeps, uid: UserId, run_id: RunId, *, told: int, apart: int
) -> AsyncGenerator[Numbered, None]:
    position = 0
    while True:
        news = await _patient_look(deps, uid, run_id, after=position)
        for batch in news.batches:
            position = batch.position
            for numbered in _untold(batch, told, apart):
                yield numbered
        if news.end is not None:
            yield news.end
            return
        await deps.clock.sleep(POLL_S)


async def _patient_look(deps: ChatDeps, uid: UserId, run_id: RunId, *, after: int) -> _News:
    for _ in range(PATIENCE):
        with suppress(Unavailable):
            return await _look(deps, uid, run_id, after=after)
        await deps.clock.sleep(POLL_S)
    return await _look(deps, uid, run_id, after=after)


async def _look(deps: ChatDeps, uid: UserId, run_id: RunId, *, after: int) -> _News:
    """Read the run first: what an ended one has told is all there when it is read then."""
    now = deps.clock.now()
    run = await settled(deps.runs, uid, run_id, now=now)
    if run is None or not run.has_journal(now):
        return await _message_alone(deps, uid, run_id)
    return _News(
        batches=await deps.runs.batches(uid, run_id, after=after), end=await _end(deps, uid, run)
    )


async def _end(deps: ChatDeps, uid: UserId, run: Run) -> Numbered | None:
    if run.outcome is None:
        return None
    return Numbered(run.last_seq, Ended(await deps.runs.answer(uid, run.id), run.outcome))


async def _message_alone(deps: ChatDeps, uid: UserId, run_id: RunId) -> _News:
    """Tell an answer whose journal is gone as its stored message does."""
    message = await deps.runs.answer(uid, run_id)
    said = Said(message.marked_text or message.text)
    batch = Batch(position=1, events=[said], last_seq=2, writer="", closing=True)
    outcome = message.metadata.get("outcome", "completed")
    return _News(batches=[batch], end=Numbered(2, Ended(message, outcome)))


def _untold(batch: Batch, told: int, apart: int) -> Iterator[Numbered]:
    known = max(0, told - batch.first_seq + 1)
    return joined(batch.events[known:], first=batch.first_seq + known, apart=apart)
