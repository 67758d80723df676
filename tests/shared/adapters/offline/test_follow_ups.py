"""Follow-ups: questions asked together with the one before."""

import json

import pytest

from shared.adapters.embedded.offline.intents import complete
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.domain.models.model import (
    AssistantTurn,
    ModelMessage,
    ToolCallRequested,
    ToolSpec,
    UserText,
)

FIRST = "What did Gran say about her pills?"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("And when was that?", f"when was that? {FIRST}"),
        ("Why is she dizzy?", f"Why is she dizzy? {FIRST}"),
        ("With whom?", f"With whom? {FIRST}"),
        ("and what did I say?", f"what did I say? {FIRST}"),
        ("Who told me that the rent rises?", "Who told me that the rent rises?"),
        ("Who said that Ben moves?", "Who said that Ben moves?"),
        ("What did that cost?", f"What did that cost? {FIRST}"),
        ("What did Ben say about that?", "What did Ben say about that?"),
        ("What do I have to do this week?", "What do I have to do this week?"),
        ("What do I like?", "What do I like?"),
        ("What can you do?", "What can you do?"),
        ("Remember that I like tea", "Remember that I like tea"),
        ("Thanks, that was helpful!", "Thanks, that was helpful!"),
    ],
)
def test_a_question_that_only_points_back_is_asked_with_the_one_before(question, expected):
    assert complete(question, [FIRST]) == expected


def test_a_second_follow_up_goes_back_to_the_same_question():
    earlier = ["How much is the rent?", FIRST, "And when was that?", "Why is she dizzy?"]

    assert complete("And who was there?", earlier) == f"who was there? {FIRST}"
    assert complete("And who was there?", []) == "who was there?"


async def test_a_follow_up_is_searched_with_the_question_that_we_answered_before():
    app, asked = UserText(text="An app sent data."), UserText(text=FIRST)
    messages: list[ModelMessage] = [
        app,
        asked,
        AssistantTurn(text="Two."),
        UserText(text="When was that?"),
    ]
    tools = [ToolSpec(name="search_conversations", description="", parameters={})]

    async with OfflineModel().stream("agent", messages, tools) as events:
        calls = [e.call async for e in events if isinstance(e, ToolCallRequested)]

    assert [json.loads(call.arguments)["query"] for call in calls] == [f"When was that? {FIRST}"]
