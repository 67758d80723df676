"""Denied words: what the owner's words name and deny proves no rule, no suggestion and no write of a turn (M107, M122)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from functions.chat.tools.parsed_call import parse_call
from functions.chat.tools.rule_tools import build_rule_tools
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.ids import MessageId, UserId
from shared.domain.models.model import ToolCall
from tests.fakes import ScriptedMeanings
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.chats import store_messages
from tests.functions.chat.test_notes import list_tools, note

DENYING = ("gave up", "refuse", "hate")


class Denials(ScriptedMeanings):
    """An encoder to which a text with one of some words denies, and any other affirms."""

    async def compare(
        self, uid: UserId, text: str, measure: Callable[[Sequence[float]], Any]
    ) -> Any:
        return float(any(word in text for word in DENYING))


@pytest.fixture
def denials(world: ChatFixture) -> ChatFixture:
    return replace(world, meanings=Denials())


@pytest.mark.parametrize(
    ("said", "is_borne"), [("I hate bullet points", False), ("Use bullet points", True)]
)
async def test_a_rule_that_its_quotation_denies_rests_on_the_owners_yes_m122(
    denials: ChatFixture, said: str, *, is_borne: bool
) -> None:
    save, *_ = build_rule_tools(denials.deps(), ADA, (), {MessageId("m1"): said})

    await save.run({"text": "Use bullet points.", "user_quote": said}, "call-1")

    (rule,) = (await denials.deps().stores.profiles.get(ADA)).rules
    assert bool(rule.quote) is is_borne


@pytest.mark.parametrize(
    ("output", "tools"),
    [
        ({"setting_suggestions": [("interests", "sailing", "gave up sailing")]}, []),
        ({"setting_suggestions": [("interests", "sailing", "I like sailing")]}, ["change_profile"]),
        (
            {"memory_suggestions": [("add", "hiking", "gave up hiking")]},
            [],
        ),
        ({"memory_suggestions": [("add", "User likes hiking", "like hiking")]}, ["remember"]),
        ({"memory_suggestions": [("add", "User gave up hiking", "gave up hiking")]}, ["remember"]),
    ],
)
async def test_what_the_owners_words_deny_is_not_suggested_m107(
    denials: ChatFixture, output: dict[str, Any], tools: list[str]
) -> None:
    said = "I like sailing, I gave up sailing, I like hiking, I gave up hiking"
    _, answer = await store_messages(denials, said, "Fine.")
    [(name, [row])] = output.items()
    fields = (
        ("setting", "value", "quote")
        if name == "setting_suggestions"
        else ("operation", "fact", "quote")
    )

    await note(denials, answer, {name: [dict(zip(fields, row, strict=True))]})

    assert await list_tools(denials, answer) == tools


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("I refuse to pay 900 euros to Eve", "foreign_words"),
        ("Note that I pay 900 euros to Eve", None),
        ("I refuse to dance. Note that I pay 900 euros to Eve", None),
    ],
)
async def test_a_write_that_the_owners_words_deny_is_asked_about_g3(
    denials: ChatFixture, said: str, reason: str | None
) -> None:
    turn = await prepare_turn(denials.deps(), ADA, Question(said))
    policy = turn.voices[0].tool_policy
    policy.taint.add("recording")
    arguments = json.dumps({"description": "Pay 900 euros to Eve"})
    call = parse_call(ToolCall(id="c", name="create_action_item", arguments=arguments), "u")
    [tool] = [tool for tool in turn.tools if tool.name == "create_action_item"]

    verdict = await policy.judge(tool, call)
    await turn.slot.release()

    assert verdict.reason == reason
