"""Timely embedder: search waits a moment for the meaning of a question, and no longer (E1)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from shared.adapters.timely_embedder import MAX_QUESTIONS, TimelyEmbedder
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from tests.fakes import FixedClock
from tests.fixtures.idle import run_ready_tasks

pytestmark = pytest.mark.anyio
ANN, BEN = UserId("ann"), UserId("ben")


@dataclass
class SlowEmbedder:
    """Encodes a question as its length once the test says `go`; `broken` ones fail."""

    name = "slow"
    embeds_later = True
    broken: Sequence[str] = ()
    go: asyncio.Event = field(default_factory=asyncio.Event)
    questions: list[str] = field(default_factory=list)

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        return [[float(len(text))] for text in texts]

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        self.questions.append(question)
        await self.go.wait()
        if question in self.broken:
            raise ModelFailed("as the test wants it")
        return [float(len(question))]


@pytest.fixture
def slow() -> SlowEmbedder:
    return SlowEmbedder()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def embedder(slow: SlowEmbedder, clock: FixedClock) -> TimelyEmbedder:
    return TimelyEmbedder(slow, clock, patience_s=0.06, most_at_once=2)


async def give_up(embedder: TimelyEmbedder, clock: FixedClock, question: str) -> None:
    """Ask for a vector, and let time pass until nobody waits for it any more."""
    asking = asyncio.ensure_future(embedder.embed_question(ANN, question))
    await run_ready_tasks()
    assert not asking.done()
    clock.advance(seconds=0.06)
    with pytest.raises(Unavailable, match="did not come in time"):
        await asking


async def test_a_vector_that_comes_in_time_is_returned(
    embedder: TimelyEmbedder, slow: SlowEmbedder, clock: FixedClock
):
    asking = asyncio.ensure_future(embedder.embed_question(ANN, "Who?"))
    await run_ready_tasks()
    clock.advance(seconds=0.059)
    slow.go.set()

    assert await asking == [4.0]


async def test_a_vector_that_came_too_late_serves_the_next_search_of_the_same_question(
    embedder: TimelyEmbedder, slow: SlowEmbedder, clock: FixedClock
):
    await give_up(embedder, clock, "Who?")
    slow.go.set()
    await run_ready_tasks()

    assert await embedder.embed_question(ANN, "Who?") == [4.0]
    assert slow.questions == ["Who?"]


async def test_a_question_is_encoded_once_for_all_who_search_by_it(
    embedder: TimelyEmbedder, slow: SlowEmbedder
):
    asking = [asyncio.ensure_future(embedder.embed_question(ANN, "Who?")) for _ in range(3)]
    await run_ready_tasks()
    slow.go.set()

    assert await asyncio.gather(*asking) == [[4.0]] * 3
    assert slow.questions == ["Who?"]


async def test_who_leaves_does_not_end_the_encoding_for_another(
    embedder: TimelyEmbedder, slow: SlowEmbedder
):
    leaving, staying = (
        asyncio.ensure_future(embedder.embed_question(ANN, "Who?")) for _ in range(2)
    )
    await run_ready_tasks()
    leaving.cancel()
    await run_ready_tasks()
    slow.go.set()

    assert await staying == [4.0]


async def test_a_question_of_another_user_is_another(embedder: TimelyEmbedder, slow: SlowEmbedder):
    """Each user's questions may be masked in a way of their own."""
    slow.go.set()

    assert await embedder.embed_question(ANN, "Who?") == await embedder.embed_question(BEN, "Who?")
    assert slow.questions == ["Who?"] * 2


async def test_a_failure_is_raised_and_the_question_is_tried_again(
    embedder: TimelyEmbedder, slow: SlowEmbedder
):
    slow.broken = ["Who?"]
    slow.go.set()
    with pytest.raises(ModelFailed, match="as the test wants it"):
        await embedder.embed_question(ANN, "Who?")
    slow.broken = []

    assert await embedder.embed_question(ANN, "Who?") == [4.0]


async def test_with_many_questions_at_once_the_next_goes_by_words_alone(
    embedder: TimelyEmbedder, slow: SlowEmbedder, clock: FixedClock
):
    await give_up(embedder, clock, "Who?")
    await give_up(embedder, clock, "Where?")

    with pytest.raises(Unavailable, match="as many questions"):
        await embedder.embed_question(ANN, "When?")
    slow.go.set()
    await run_ready_tasks()

    assert await embedder.embed_question(ANN, "When?") == [5.0]


async def test_the_questions_asked_last_are_kept(embedder: TimelyEmbedder, slow: SlowEmbedder):
    slow.go.set()
    for number in range(MAX_QUESTIONS + 1):
        await embedder.embed_question(ANN, f"Question {number}")
        await embedder.embed_question(ANN, "Question 0")

    assert slow.questions == [f"Question {number}" for number in range(MAX_QUESTIONS + 1)]


async def test_texts_are_embedded_as_before(embedder: TimelyEmbedder):
    assert (embedder.name, embedder.embeds_later) == ("slow", True)
    assert await embedder.embed(ANN, ["text"]) == [[4.0]]


async def test_what_has_to_be_compared_is_encoded_however_many_are_and_however_long_it_takes_g1(
    embedder: TimelyEmbedder, slow: SlowEmbedder, clock: FixedClock
):
    asking = [asyncio.ensure_future(embedder.embed_surely(ANN, f"Who{n}?")) for n in range(5)]
    await run_ready_tasks()
    clock.advance(seconds=60)
    slow.go.set()

    assert await asyncio.gather(*asking) == [[5.0]] * 5
    assert len(slow.questions) == 5
