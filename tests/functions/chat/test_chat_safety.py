"""Safety of a chat in its turns: what is rated, what its score does, and what its owner reads."""

from collections.abc import Sequence
from typing import Any, TypeVar

import httpx
import pytest

from functions.chat.deps import ChatDeps
from functions.chat.sessions.open_chat import MAX_SLOWED_QUESTIONS
from shared.domain.account.quota import EMBEDDED_LIMITS
from shared.domain.chats.chat import MAIN_SESSION, build_session
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.models.model import ModelRole, Prompt, UserText
from shared.reading.crisis_verdict import DOUBTFUL_DANGER
from shared.safety import crisis_plan
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.test_crisis_gate import CERTAIN, PLAIN, read, script_judged
from tests.functions.chat.test_message_routes import open_chat
from tests.old_app import parse_as_fixed_app

T = TypeVar("T")
GRADUAL = [0.0, 0.2, 0.4, 0.6, 0.8, 0.9]
CAUTION = "went towards harm for other people"


class TrustingModel(ScriptedModel):
    """A model that finds no question harmful which a moderator doubts."""

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        if prompt.name == "chat/reading":
            return schema()
        return await super().complete_structured(role, prompt, schema)


def script_answers(count: int) -> ScriptedModel:
    return TrustingModel(*[script_answer("Here you go.")] * count)


async def ask(deps: ChatDeps, text: str = "And then?", **query: str) -> httpx.Response:
    async with open_chat(deps) as http:
        return await http.post("/v2/messages", json={"text": text}, params=query)


async def read_safety(deps: ChatDeps, answer: httpx.Response) -> Any:
    async with open_chat(deps) as http:
        path = f"/v2/messages/{answer.headers['x-run-id']}/diagnostics"
        return (await http.get(path)).json()["safety"]


async def play(
    world: ChatFixture, model: ScriptedModel, ratings: Sequence[float | Exception]
) -> list[dict[str, Any]]:
    """Ask as many questions as there are ratings; return the score after each."""
    world.moderator.ratings = [*ratings]
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


async def lock(world: ChatFixture) -> None:
    now, stores = world.clock.now(), world.deps().stores
    await stores.sessions.add(ADA, build_session(MAIN_SESSION, app_id=None, now=now))
    steps = [await stores.safety_reviews.add_harm(ADA, MAIN_SESSION, 1, now) for _ in range(3)]
    assert steps[-1] == "locked"


async def test_three_of_the_worst_questions_lock_a_chat_m129(world: ChatFixture) -> None:
    with script_answers(3) as model:
        shown = await play(world, model, [1.0, 1.0, 1.0])

    assert shown[-1]["step"] == "locked"
    assert shown[-1]["locked_until"] == "2026-03-03T12:01:30Z"


async def test_a_locked_chat_answers_with_a_typed_error_m129(world: ChatFixture) -> None:
    await lock(world)
    with ScriptedModel() as model:
        refusal = await ask(world.deps(model), protocol="ui-message-stream")

    problem = refusal.json()
    assert refusal.status_code == 423
    assert refusal.headers["content-type"] == "application/problem+json"
    assert (problem["code"], problem["locked_until"]) == (
        "chat_locked",
        "2026-03-03T12:00:00+00:00",
    )
    assert "closed until Tuesday 3 March 2026 at 12:00" in problem["detail"]


async def test_the_old_app_reads_in_the_chat_that_it_is_locked_m129(world: ChatFixture) -> None:
    await lock(world)
    with ScriptedModel() as model:
        refusal = await ask(world.deps(model))

    screen = parse_as_fixed_app([refusal.content])
    assert refusal.status_code == 200
    assert screen.text.startswith("Because of what was asked in this chat")
    assert screen.done is not None


async def test_a_locked_chat_says_until_when_m129(world: ChatFixture) -> None:
    await lock(world)
    async with open_chat(world.deps()) as http:
        chat = (await http.get("/v2/chat-sessions/main")).json()

    assert chat["locked_until"] == "2026-03-03T12:00:00Z"


async def test_the_way_out_is_a_new_chat_or_a_day_m129(world: ChatFixture) -> None:
    await lock(world)
    with script_answers(2) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            other = (await http.post("/v2/chat-sessions", json={})).json()["id"]
        elsewhere = await ask(deps, chat_session_id=other)
        world.clock.advance(days=1)
        later = await ask(deps)

    assert ["Here you go." in answer.text for answer in (elsewhere, later)] == [True, True]
    assert list_cautioned(model) == [False, True]


async def test_a_refused_question_costs_no_turn_and_no_slot_m129(world: ChatFixture) -> None:
    await lock(world)
    deps = world.deps(ScriptedModel(), quotas={**EMBEDDED_LIMITS, "turns": 4})
    refusals = [await ask(deps, protocol="ui-message-stream") for _ in range(5)]

    assert [refusal.status_code for refusal in refusals] == [423] * 5


async def test_a_certain_crisis_is_answered_in_a_locked_chat_m129(world: ChatFixture) -> None:
    await lock(world)
    with ScriptedModel() as model:
        answer = await ask(world.deps(model), CERTAIN)

    assert crisis_plan.GET_HELP_NOW in parse_as_fixed_app([answer.content]).text


async def test_an_unsure_crisis_is_judged_and_answered_in_a_locked_chat_m129(
    world: ChatFixture,
) -> None:
    await lock(world)
    readings = [read(2), read(2)]
    with ScriptedModel(script_answer("Ok."), answers={"chat/reading": readings}) as model:
        answer = await ask(world.deps(model), PLAIN)

    assert crisis_plan.NOT_ALONE in parse_as_fixed_app([answer.content]).text


async def test_an_idiom_does_not_open_a_locked_chat_m129(world: ChatFixture) -> None:
    await lock(world)
    text = "I am dying to know more"
    world.meanings.danger = {text: DOUBTFUL_DANGER}
    reading = read(0, quote="dying to know")
    with ScriptedModel(answers={"chat/reading": [reading]}) as model:
        refusal = await ask(world.deps(model), text, protocol="ui-message-stream")

    assert refusal.status_code == 423


@pytest.mark.parametrize(("language", "words"), [("de", "geschlossen"), ("zh", "关闭")])
async def test_a_lock_is_told_in_the_owners_language_m129(
    world: ChatFixture, language: str, words: str
) -> None:
    await lock(world)
    deps = world.deps(ScriptedModel())
    async with open_chat(deps) as http:
        await http.patch("/v1/users/profile", json={"language": language})
        refusal = await http.post("/v2/messages", json={"text": "And then?"})

    assert words in parse_as_fixed_app([refusal.content]).text


async def test_a_chat_that_went_far_answers_fewer_questions_an_hour_m128(
    world: ChatFixture,
) -> None:
    count = MAX_SLOWED_QUESTIONS
    with script_answers(count + 2) as model:
        await play(world, model, [1.0])
        world.moderator.ratings = [0.5] * count
        deps = world.deps(model)
        answers = [await ask(deps, protocol="ui-message-stream") for _ in range(count + 1)]
        world.clock.advance(hours=1)
        next_hour = await ask(deps, protocol="ui-message-stream")

    assert [answer.status_code for answer in answers] == [200] * count + [429]
    assert answers[-1].headers["retry-after"] == "3570"
    assert "only 10 questions an hour" in answers[-1].json()["detail"]
    assert next_hour.status_code == 200


async def test_a_crisis_is_answered_beyond_the_limit_of_a_slowed_chat_m128(
    world: ChatFixture,
) -> None:
    count = MAX_SLOWED_QUESTIONS
    with script_answers(count + 1) as model:
        await play(world, model, [1.0])
        world.moderator.ratings = [0.5] * count
        deps = world.deps(model)
        answers = [await ask(deps) for _ in range(count)]
        answers.append(await ask(deps, CERTAIN))

    assert crisis_plan.GET_HELP_NOW in parse_as_fixed_app([answers[-1].content]).text


async def test_a_locked_chat_asks_the_classifier_ten_times_an_hour_at_most_m129(
    world: ChatFixture,
) -> None:
    await lock(world)
    count = MAX_SLOWED_QUESTIONS
    world.meanings.danger = {"Is the plant dying?": DOUBTFUL_DANGER}
    readings = [read(0, quote="dying")] * count
    answers = {"chat/reading": [*readings, read(3)]}
    with ScriptedModel(script_answer("Ok."), answers=answers) as model:
        deps = world.deps(model)
        refusals = [
            await ask(deps, "Is the plant dying?", protocol="ui-message-stream")
            for _ in range(count + 2)
        ]
        own = await ask(deps, PLAIN)

    assert [refusal.status_code for refusal in refusals] == [423] * (count + 2)
    assert own.status_code == 200
    assert crisis_plan.NOT_ALONE in parse_as_fixed_app([own.content]).text


async def test_in_a_locked_chat_nobody_begins_to_speak_m129(world: ChatFixture) -> None:
    await lock(world)
    async with open_chat(world.deps()) as http:
        refusal = await http.post("/v2/voice-sessions", json={})

    assert (refusal.status_code, refusal.json()["code"]) == (423, "chat_locked")


async def test_a_command_is_told_to_nobody_m128(world: ChatFixture) -> None:
    with ScriptedModel() as model:
        await ask(world.deps(model), "/memories")

    assert world.moderator.texts == []
