"""Embedding worker: what waits is embedded once, whatever else happens to its row (E1)."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf

import pytest

from shared.adapters.embedded.embedding_worker import IDLE_S, POLL_S, EmbeddingWorker
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.store.vectors import Row, SparseVector, WaitingText
from shared.ports import Clock
from tests.fakes import AutoAdvanceClock, FixedClock
from tests.fixtures.idle import run_ready_tasks

pytestmark = pytest.mark.anyio
TERM = SparseVector((1,), (1.0,))


@dataclass
class LengthEmbedder:
    """Embeds a text as its length; `broken` ones make it fail, and so do all after `lives_for` batches."""

    name = "lengths"
    embeds_later = True
    broken: Sequence[str] = ()
    lives_for: float = inf
    batches: list[list[str]] = field(default_factory=list)
    closed_count: int = 0

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        self.batches.append(list(texts))
        if len(self.batches) > self.lives_for or any(text in self.broken for text in texts):
            raise ModelFailed("as the test wants it")
        return [(float(len(text)), 1.0) for text in texts]

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        [vector] = await self.embed(uid, [question])
        return vector

    async def aclose(self) -> None:
        self.closed_count += 1


def waiting_row(name: str, text: str | None) -> Row:
    return Row(id=name, sparse=TERM, text=text)


async def run_until_idle(
    vectors: SqliteVectors,
    embedder: LengthEmbedder,
    said: list[str] | None = None,
    clock: Clock | None = None,
) -> None:
    said = [] if said is None else said
    worker = EmbeddingWorker(vectors, embedder, clock or FixedClock(), said.append)
    task = asyncio.create_task(worker.run())
    while await vectors.count_waiting() and not task.done():
        await run_ready_tasks()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def read_dense(vectors: SqliteVectors, *names: str) -> list[tuple[float, ...] | None]:
    rows = await vectors.fetch("ann", names)
    return [rows[name].dense for name in names]


async def test_waiting_texts_are_embedded_and_found_by_meaning(vectors: SqliteVectors):
    await vectors.upsert("ann", [waiting_row("a", "12345"), waiting_row("b", None)])
    assert [hit.id for hit in await vectors.query_sparse("ann", TERM, limit=5)] == ["a", "b"]
    assert await vectors.query_dense("ann", (5.0, 1.0), limit=5) == []

    await run_until_idle(vectors, LengthEmbedder())

    assert [hit.id for hit in await vectors.query_dense("ann", (5.0, 1.0), limit=5)] == ["a"]
    assert await read_dense(vectors, "a", "b") == [(5.0, 1.0), None]


async def test_a_text_that_changed_meanwhile_is_not_given_its_old_meaning(vectors: SqliteVectors):
    old = WaitingText(namespace="ann", row_id="a", text="old")
    await vectors.upsert("ann", [waiting_row("a", "old")])
    await vectors.upsert("ann", [waiting_row("a", "a new one")])

    await vectors.add_dense([old], [(3.0, 1.0)])

    assert await read_dense(vectors, "a") == [None]
    await run_until_idle(vectors, LengthEmbedder())
    assert await read_dense(vectors, "a") == [(9.0, 1.0)]


@pytest.mark.parametrize("erased", [True, False])
async def test_a_row_that_went_meanwhile_does_not_come_back(
    vectors: SqliteVectors, *, erased: bool
):
    [text] = await wait_with(vectors, "a")
    await (vectors.delete_namespace("ann") if erased else vectors.delete("ann", ["a"]))

    await vectors.add_dense([text], [(1.0, 1.0)])

    assert await vectors.fetch("ann", ["a"]) == {}
    assert await vectors.query_dense("ann", (1.0, 1.0), limit=5) == []
    assert await vectors.count_waiting() == 0


async def wait_with(vectors: SqliteVectors, name: str) -> list[WaitingText]:
    await vectors.upsert("ann", [waiting_row(name, "x")])
    return await vectors.list_waiting(1)


async def test_a_text_that_breaks_the_encoder_leaves_the_others_alone(vectors: SqliteVectors):
    await vectors.upsert("ann", [waiting_row(name, name * 3) for name in "abc"])

    await run_until_idle(vectors, LengthEmbedder(broken=["bbb"]))

    assert await read_dense(vectors, "a", "b", "c") == [(3.0, 1.0), None, (3.0, 1.0)]


async def test_a_machine_without_the_encoder_is_told_so_in_one_sentence(vectors: SqliteVectors):
    await vectors.upsert("ann", [waiting_row("a", "text")])
    said: list[str] = []

    await run_until_idle(vectors, LengthEmbedder(broken=["Is anybody there?"]), said)

    assert said == ["search goes by words alone: as the test wants it"]
    assert await vectors.count_waiting() == 1


async def test_long_work_says_how_much_is_left(vectors: SqliteVectors):
    await vectors.upsert("ann", [waiting_row(f"r{n}", "text") for n in range(700)])
    said: list[str] = []

    await run_until_idle(vectors, LengthEmbedder(), said)

    assert said == [
        "0 of 700 passages can be found by meaning; words find all of them",
        "400 of 700 passages can be found by meaning; words find all of them",
    ]


async def test_an_encoder_that_embeds_nothing_any_more_leaves_what_waits(vectors: SqliteVectors):
    await vectors.upsert("ann", [waiting_row(name, name * 3) for name in "abc"])
    said: list[str] = []

    await run_until_idle(vectors, LengthEmbedder(lives_for=1), said)

    assert said == ["search goes by words alone: as the test wants it"]
    assert await vectors.count_waiting() == 3


async def test_an_embedder_is_closed_a_minute_after_its_last_text(vectors: SqliteVectors):
    embedder, clock = LengthEmbedder(), AutoAdvanceClock()
    task = asyncio.create_task(EmbeddingWorker(vectors, embedder, clock, print).run())

    for times_closed in (1, 2):
        await vectors.upsert("ann", [waiting_row("a", f"text {times_closed}")])
        polls_before = len(clock.sleeps_s)
        while len(clock.sleeps_s) < polls_before + 2 * IDLE_S / POLL_S:
            await vectors.count_waiting()
        assert embedder.closed_count == times_closed

    assert await vectors.count_waiting() == 0
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


class BusyOnceVectors(SqliteVectors):
    """Vectors whose database is busy at first."""

    was_busy = False

    async def list_waiting(self, limit: int) -> list[WaitingText]:
        if not self.was_busy:
            self.was_busy = True
            raise Unavailable("as the test wants it")
        return await super().list_waiting(limit)


async def test_a_busy_database_is_asked_again_later(database: SqliteDatabase):
    vectors, clock = BusyOnceVectors(database), AutoAdvanceClock()
    await vectors.upsert("ann", [waiting_row("a", "12345")])

    await run_until_idle(vectors, LengthEmbedder(), clock=clock)

    assert clock.sleeps_s[0] == POLL_S
    assert await read_dense(vectors, "a") == [(5.0, 1.0)]
