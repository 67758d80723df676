"""Test doubles: each is as strict as the real thing."""

import pytest

from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.models.model import ModelCallFinished, Prompt, TextDelta, UserText
from tests.fakes import ScriptedModel, ScriptedTurn, script_answer

QUESTION = [UserText(text="hi")]
PROMPT = Prompt(name="title", version="1", instructions="", data={})


async def test_a_turn_is_played_as_scripted_and_its_call_is_recorded():
    with ScriptedModel(script_answer("Hel", "lo")) as model:
        async with model.stream("agent", QUESTION) as events:
            received = [event async for event in events]

    assert received == [
        TextDelta("Hel"),
        TextDelta("lo"),
        ModelCallFinished(reason="stop", model="scripted"),
    ]
    assert model.calls[0].messages == tuple(QUESTION)
    assert model.open_streams == 0


async def test_a_scripted_failure_comes_after_the_text_before_it():
    turn: ScriptedTurn = [TextDelta("Hel"), Unavailable("gone")]

    with ScriptedModel(turn) as model:
        async with model.stream("agent", QUESTION) as events:
            assert await anext(events) == TextDelta("Hel")
            with pytest.raises(Unavailable):
                await anext(events)


async def test_an_unscripted_call_fails_the_test_even_when_the_code_swallows_it():
    model = ScriptedModel()

    with pytest.raises(AssertionError, match="nobody scripted"):
        async with model.stream("agent", QUESTION):
            pass

    with pytest.raises(AssertionError, match="unexpected"):
        model.verify()


def test_an_unused_turn_fails_the_test():
    with pytest.raises(AssertionError, match="1 scripted"):
        ScriptedModel(script_answer("never")).verify()


async def test_answers_are_chosen_by_prompt_name_and_validated():
    with ScriptedModel(answers={"title": [{"a": 1}, "no number"]}) as model:
        assert await model.complete_structured("fast", PROMPT, dict[str, int]) == {"a": 1}
        with pytest.raises(ModelFailed):
            await model.complete_structured("fast", PROMPT, dict[str, int])
