"""Safety of a chat in its turns: what is rated, what its score does, and what its owner reads."""

from typing import Any

import httpx
import pytest

from functions.chat.deps import ChatDeps
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.model import UserText
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.chat import ChatFixture
from tests.functions.chat.test_crisis_gate import PLAIN, read, script_judged
from tests.functions.chat.test_message_routes import open_chat

GRADUAL = [0.0, 0.2, 0.4, 0.6, 0.8, 0.9]
CAUTION = "went towards harm for other people"


def script_answers(count: int) -> ScriptedModel:
    return ScriptedModel(*[script_answer("Here you go.")] * count)


async def ask(deps: ChatDeps, text: str = "And then?", **query: str) -> httpx.Response:
    async with open_chat(deps) as http:
        return await http.post("/v2/messages", json={"text": text}, params=query)


async def read_safety(deps: ChatDeps, answer: httpx.Response) -> Any:
    async with open_chat(deps) as http:
        path = f"/v2/messages/{answer.headers['x-run-id']}/diagnostics"
        return (await http.get(path)).json()["safety"]


async def play(
    world: ChatFixture, model: ScriptedModel, ratings: list[float | Exception]
) -> list[dict[str, Any]]:
    """Ask as many questions as there are ratings; return the score after each."""
    world.moderator.ratings = ratings.copy()
    deps, shown = world.deps(model), []
    for _ in ratings:
        world.clock.advance(seconds=30)
        shown.append(await read_safety(deps, await ask(deps)))
    return shown


def list_cautioned(model: ScriptedModel) -> list[bool]:
    last = [[m for m in call.messages if isinstance(m, UserText)][-1] for call in model.calls]
    return [CAUTION in message.text for message in last]


async def test_a_gradual_dialogue_raises_the_score_of_its_chat_m128(world: ChatFixture) -> None:
    with script_answers(len(GRADUAL)) as model:
        shown = await play(world, model, [*GRADUAL])

    scores = [safety["score"] for safety in shown]
    assert scores == sorted(scores)
    assert shown[-1]["step"] == "review"
    assert list_cautioned(model) == [False, False, False, False, True, True]


async def test_a_benign_dialogue_leaves_no_trace_m128(world: ChatFixture) -> None:
    with script_answers(12) as model:
        shown = await play(world, model, [0.002] * 12)

    assert shown == [{"score": 0, "step": "none", "locked_until": None}] * 12
    assert not any(list_cautioned(model))


async def test_a_score_falls_with_time_and_with_it_the_caution_m128(world: ChatFixture) -> None:
    with script_answers(3) as model:
        (after,) = await play(world, model, [0.9])
        world.clock.advance(days=1)
        (later,) = await play(world, model, [0.0])
        world.clock.advance(days=9)
        (much_later,) = await play(world, model, [0.0])

    assert (after["step"], later["step"]) == ("note", "none")
    assert after["score"] > later["score"] > much_later["score"]
    assert list_cautioned(model) == [False, False, False]


@pytest.mark.parametrize("failure", [Unavailable("down"), ModelFailed(), ValueError("odd")])
async def test_a_question_that_nobody_could_rate_is_answered_and_harmless_m128(
    world: ChatFixture, failure: Exception
) -> None:
    with script_answers(1) as model:
        (safety,) = await play(world, model, [failure])

    assert safety["score"] == 0


@pytest.mark.parametrize("level", [1, 2, 3])
async def test_somebody_in_a_crisis_is_not_rated_m128(world: ChatFixture, level: int) -> None:
    world.moderator.ratings = [1.0]
    with script_judged(script_answer("I hear you."), readings=[read(level)]) as model:
        deps = world.deps(model)
        safety = await read_safety(deps, await ask(deps, PLAIN))

    assert safety["score"] == 0
    assert world.moderator.texts == []


async def test_nobody_is_told_addresses_and_numbers_m128(world: ChatFixture) -> None:
    with script_answers(1) as model:
        await ask(world.deps(model), "Write to ann@example.org or 0170 1234567")

    assert world.moderator.texts == ["Write to […] or […]"]


async def test_an_incognito_chat_has_a_score_and_no_review_m128(world: ChatFixture) -> None:
    world.moderator.ratings = [1.0, 1.0]
    with script_answers(2) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            body = {"storage_mode": "incognito"}
            chat = (await http.post("/v2/chat-sessions", json=body)).json()["id"]
        answers = [await ask(deps, chat_session_id=chat) for _ in range(2)]
        safety = await read_safety(deps, answers[-1])

    assert safety["step"] == "review"
    assert await deps.stores.safety_reviews.list_newest() == []


async def test_a_chat_that_went_far_gets_one_review_m129(world: ChatFixture) -> None:
    with script_answers(3) as model:
        await play(world, model, [1.0, 0.9, 0.1])

    (review,) = await world.deps().stores.safety_reviews.list_newest()
    assert (review.uid, review.session_id, review.step) == ("ada", "main", "review")
