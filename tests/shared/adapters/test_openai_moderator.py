"""OpenAI's moderations against a local server that speaks them (M128)."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from shared.adapters.cloud.openai_moderator import MODEL, OpenaiModerator
from shared.domain.chats.safety import Moderation
from shared.domain.errors import ModelFailed, Unavailable
from tests.fakes import AutoAdvanceClock
from tests.servers import run_server
from tests.servers.moderations import FakeModerations, build_answer


@pytest.fixture
def server() -> Iterator[FakeModerations]:
    server = FakeModerations()
    with run_server(server.app) as server.url:
        yield server


@pytest.fixture
async def moderator(server: FakeModerations) -> AsyncIterator[OpenaiModerator]:
    moderator = OpenaiModerator(
        api_key="key", base_url=f"{server.url}/v1", clock=AutoAdvanceClock()
    )
    yield moderator
    await moderator.aclose()


@pytest.mark.parametrize(
    ("scores", "harm", "self_harm"),
    [
        ({}, 0, 0),
        ({"illicit__violent": 0.9, "illicit": 0.95}, 0.9, 0),
        ({"hate__threatening": 0.7}, 0.7, 0),
        ({"illicit": 0.8}, 0.4, 0),
        ({"illicit": None, "illicit__violent": None, "violence": 0.9}, 0, 0),
        ({"self_harm": 0.2, "self_harm__intent": None}, 0, 0.2),
        ({"self_harm__intent": 0.9, "hate__threatening": 0.7}, 0.7, 0.9),
        ({"self_harm__instructions": 1}, 0, 1),
    ],
)
async def test_harm_for_others_is_rated_apart_from_danger_to_the_writer_m128(
    server: FakeModerations,
    moderator: OpenaiModerator,
    scores: dict[str, float],
    harm: float,
    self_harm: float,
):
    server.answers = [build_answer(**scores)]

    assert await moderator.moderate("How?") == Moderation(harm=harm, self_harm=self_harm)
    assert server.requests == [{"model": MODEL, "input": "How?"}]


@pytest.mark.parametrize(
    "answer",
    [b"", b"[]", {"results": []}, build_answer(illicit=7), b'{"results":[{"category_scores":9}]}'],
)
async def test_an_answer_that_says_nothing_is_no_rating_m128(
    server: FakeModerations, moderator: OpenaiModerator, answer: Any
):
    server.answers = [answer]

    with pytest.raises(ModelFailed):
        await moderator.moderate("How?")


async def test_a_server_without_moderations_is_asked_once_m128(
    server: FakeModerations, moderator: OpenaiModerator
):
    server.answers = [404]

    assert [await moderator.moderate("How?") for _ in range(3)] == [None] * 3
    assert len(server.requests) == 1


async def test_a_failure_that_passes_is_tried_twice_m128(
    server: FakeModerations, moderator: OpenaiModerator
):
    server.answers = [500, build_answer(sexual__minors=0.6), 500, 500, 401]

    assert await moderator.moderate("How?") == Moderation(harm=0.6)
    with pytest.raises(Unavailable):
        await moderator.moderate("How?")
    with pytest.raises(ModelFailed):
        await moderator.moderate("How?")


async def test_a_server_that_is_gone_is_unavailable_m128():
    moderator = OpenaiModerator(
        api_key="key", base_url="http://127.0.0.1:9/v1", clock=AutoAdvanceClock()
    )

    with pytest.raises(Unavailable):
        await moderator.moderate("How?")
    await moderator.aclose()
