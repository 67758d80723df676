"""Guided exercises: begun, done step by step, ended, and resumed after a crisis (C79)."""

from typing import Any

import pytest

from shared.domain.chats.exercise import ActiveExercise, Exercise, advance
from shared.domain.errors import Conflict
from shared.domain.models.model import ToolResult, UserText
from shared.exercises import find_exercise, load_exercises
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import EVE, ChatFixture
from tests.functions.chat.test_crisis_gate import CERTAIN
from tests.functions.chat.test_message_routes import ask, open_chat

GROUNDING = find_exercise("grounding")
PATH = "/v2/chat-sessions/main/exercise"


async def say(world: ChatFixture, model: ScriptedModel, *texts: str) -> list[str]:
    deps, shown = world.deps(model), []
    for text in texts:
        world.clock.advance(seconds=5)
        _, screen = await ask(deps, {"text": text})
        shown.append(screen.text)
    return shown


async def get_exercise(world: ChatFixture) -> Any:
    async with open_chat(world.deps()) as http:
        return (await http.get("/v2/chat-sessions/main")).json()["exercise"]


def read_context(model: ScriptedModel, call: int) -> str:
    texts = [m.text for m in model.calls[call].messages if isinstance(m, UserText)]
    return texts[-1]


def list_results(model: ScriptedModel) -> list[str]:
    return [m.text for c in model.calls for m in c.messages if isinstance(m, ToolResult)]


async def test_an_exercise_is_begun_done_and_over_c79(world: ChatFixture) -> None:
    assert GROUNDING is not None
    steps = [
        turn
        for number in range(1, len(GROUNDING.steps) + 1)
        for turn in (
            script_calls(("finish_exercise_step", {"step": number})),
            script_answer("Next."),
        )
    ]
    start = script_calls(("start_exercise", {"exercise_id": "grounding"}))
    with ScriptedModel(start, script_answer("Look around."), *steps, script_answer("Hi.")) as model:
        await say(world, model, "Calm me down", *["Done"] * len(GROUNDING.steps), "Hello")

    assert "Its step 1 of 5" in read_context(model, 2)
    assert GROUNDING.steps[0] in read_context(model, 2)
    assert "Its step 5 of 5" in read_context(model, 10)
    assert any("last step" in text for text in list_results(model))
    assert "exercise" not in read_context(model, 12)
    assert await get_exercise(world) is None


async def test_a_repeated_call_skips_no_step_c79(world: ChatFixture) -> None:
    done = ("finish_exercise_step", {"step": 1})
    with ScriptedModel(
        script_calls(("start_exercise", {"exercise_id": "grounding"})),
        script_answer("Look around."),
        script_calls(done, done),
        script_answer("And now?"),
    ) as model:
        await say(world, model, "Calm me down", "Done")

    assert await get_exercise(world) == {"id": "grounding", "step": 2}


async def test_a_crisis_interrupts_it_and_the_next_turn_resumes_c79(world: ChatFixture) -> None:
    reading = {"danger": 0}
    with ScriptedModel(
        script_calls(("start_exercise", {"exercise_id": "breathing"})),
        script_answer("Sit down."),
        script_answer("Shall we go on?"),
        script_answer("Breathe."),
        answers={"chat/reading": [reading, reading]},
    ) as model:
        shown = await say(world, model, "Calm me down", CERTAIN, "I am with Ann now", "Yes")

    assert "Sit" not in shown[1]
    assert "was interrupted" in read_context(model, 2)
    assert "Its step 1 of 4" in read_context(model, 2)
    assert "was interrupted" not in read_context(model, 3)
    assert await get_exercise(world) == {"id": "breathing", "step": 1}


async def test_the_owner_begins_and_ends_one_by_hand_c79(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        listed = (await http.get("/v2/exercises")).json()
        begun = (await http.put(PATH, json={"exercise_id": listed[0]["id"]})).json()
        unknown = await http.put(PATH, json={"exercise_id": "yoga"})
        ended = (await http.put(PATH, json={"exercise_id": None})).json()
    async with open_chat(world.deps(), EVE) as http:
        foreign = await http.put(
            "/v2/chat-sessions/c9/exercise", json={"exercise_id": listed[0]["id"]}
        )

    assert len(listed) == len(load_exercises())
    assert begun["exercise"] == {"id": listed[0]["id"], "step": 1}
    assert (unknown.status_code, foreign.status_code) == (404, 404)
    assert ended["exercise"] is None


async def test_the_tools_fit_where_the_chat_is_c79(world: ChatFixture) -> None:
    with ScriptedModel(
        script_calls(("start_exercise", {"exercise_id": "juggling"})),
        script_answer("No such."),
        script_calls(("start_exercise", {"exercise_id": "worry"})),
        script_answer("Write it down."),
        script_calls(("end_exercise", {})),
        script_answer("Fine."),
        script_answer("Hi."),
    ) as model:
        await say(world, model, "Juggle with me", "A worry", "Stop", "Hello")

    def list_tools(call: int) -> set[str]:
        return {t.name for t in model.calls[call].tools if "exercise" in t.name}

    assert "there is no exercise 'juggling'" in list_results(model)[0]
    assert list_tools(0) == list_tools(6) == {"start_exercise"}
    assert list_tools(4) == {"finish_exercise_step", "end_exercise"}


@pytest.mark.parametrize(
    ("active", "step"), [(None, 1), (ActiveExercise(id="other"), 1), (ActiveExercise(id="e"), 2)]
)
def test_a_step_that_is_not_current_is_refused_c79(
    active: ActiveExercise | None, step: int
) -> None:
    exercise = Exercise(id="e", title="E", purpose="", steps=("a", "b"))

    with pytest.raises(Conflict):
        advance(active, exercise, step)
