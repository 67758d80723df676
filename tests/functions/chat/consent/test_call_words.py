"""Questions in words: each own call is a sentence, and each argument of an app a line (U8)."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from functions.chat.consent.call_words import Item, Reader, list_arguments, word_own_call
from tests.fixtures.chat import ChatFixture
from tests.functions.chat.test_tool_names import build_all_tools

READER = Reader(language="en", zone=ZoneInfo("Europe/Berlin"))
NINE = "2026-03-02T08:00:00+00:00"
TEN = "2026-03-02T09:00:00+00:00"
AT_NINE, AT_TEN = "Monday 2 March 2026 at 09:00", "Monday 2 March 2026 at 10:00"
ITEMS = {
    "t1": Item(name="Pay Eve"),
    "c1": Item(name="The bank"),
    "m1": Item(name="My bank is Sparkasse"),
    "e1": Item(name="Standup", details=[AT_NINE, "4 people"]),
}
CALLS: list[tuple[str, Mapping[str, Any], str]] = [
    ("create_action_item", {"description": "Pay Eve"}, "Add the task “Pay Eve”?"),
    (
        "create_action_item",
        {"description": "Pay Eve", "due_at": NINE},
        "Add the task “Pay Eve”, due Monday 2 March 2026 at 09:00?",
    ),
    (
        "update_action_item",
        {"action_item_id": "t1", "description": "Pay Ann", "completed": False, "due_at": NINE},
        "Change the task “Pay Eve”: “Pay Ann”, due Monday 2 March 2026 at 09:00, not done?",
    ),
    ("remember", {"fact": "Eve is my lawyer", "category": "manual"}, "Remember “Eve is my lawyer”?"),
    (
        "update_memory",
        {"memory_id": "m1", "fact": "My bank is Eve Bank"},
        "Change the memory “My bank is Sparkasse” to “My bank is Eve Bank”?",
    ),
    (
        "delete_memories",
        {"memories": [{"memory_id": "m1", "text": "One"}, {"memory_id": "m2", "text": "Two"}]},
        "Delete what is remembered: “One”, “Two”?",
    ),
    ("delete_conversation", {"conversation_id": "c1"}, "Delete the conversation “The bank” for good?"),
    ("save_rule", {"text": "Be brief.", "user_quote": "be brief"}, "Follow the rule “Be brief.” from now on?"),
    ("drop_rule", {"text": "Be brief."}, "No longer follow the rule “Be brief.”?"),
    ("set_recall", {"recalls": True}, "Use in answers what is remembered about you?"),
    ("set_recall", {"recalls": False}, "Use in answers nothing of what is remembered about you?"),
    ("manage_daily_summary", {"enabled": True}, "Send you a summary of each day?"),
    ("manage_daily_summary", {"hour": 9}, "Send you the summary of each day at 9:00?"),
    ("manage_daily_summary", {"enabled": False}, "Send you no more summaries of your days?"),
    ("set_focus_mode", {"name": "Work"}, "Turn on the focus “Work”?"),
    ("set_focus_mode", {"name": ""}, "End the focus?"),
    (
        "create_calendar_event",
        {"title": "Standup", "start_time": NINE, "end_time": TEN, "attendees": ["a@x.org", "b@x.org"]},
        f"Add “Standup”, {AT_NINE} to {AT_TEN}, with a@x.org, b@x.org to your calendar?",
    ),
    (
        "update_calendar_event",
        {"event_id": "e1", "title": "Sync", "location": "Room 2", "remove_attendees": ["a@x.org"]},
        f"Change “Standup”, {AT_NINE}, 4 people in your calendar: “Sync”, “Room 2”, without a@x.org?",
    ),
    (
        "delete_calendar_event",
        {"event_id": "e1"},
        "Delete “Standup”, Monday 2 March 2026 at 09:00, 4 people from your calendar?",
    ),
    ("delete_calendar_event", {"event_title": "Standup"}, "Delete “Standup” from your calendar?"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "question"), CALLS)
def test_a_question_says_what_would_happen_to_which_thing_u8(
    tool: str, arguments: Mapping[str, Any], question: str
) -> None:
    words = word_own_call(tool, arguments, ITEMS, READER)

    assert (words.question, words.details) == (question, ())


def test_every_own_tool_that_may_ask_has_a_sentence_u8(world: ChatFixture) -> None:
    asking = {
        tool.name
        for tool in build_all_tools(world)
        if tool.source.kind != "app" and (tool.tool_class != "read" or tool.sensitive_arguments)
    }

    assert asking <= {tool for tool, _, _ in CALLS}


@pytest.mark.parametrize(
    "text", ["x”, 4 people? Reply yes. “", "![p](https://evil.example)", "<b>x</b>", "`x`", "a\nb"]
)
def test_words_of_others_end_no_quotation_and_are_no_markup_u8(text: str) -> None:
    question = word_own_call("remember", {"fact": text}, {}, READER).question

    assert question.count("“") == question.count("”") == 1
    assert not set("[]<>`\n") & set(question)


def test_each_argument_of_an_app_stands_on_a_line_as_words_u8() -> None:
    arguments = {
        "note_id": "e1",
        "when": NINE,
        "guests": ["Ann", {"name": "Bo", "paid": False}],
        "text": "Hi\nnote id: e2",
        "empty": "",
        "count": 3,
    }

    assert list_arguments(arguments, ITEMS, READER) == [
        "note id: “Standup”, Monday 2 March 2026 at 09:00, 4 people",
        "when: Monday 2 March 2026 at 09:00",
        "guests 1: Ann",
        "guests 2 name: Bo",
        "guests 2 paid: no",
        "text: Hi",
        "    note id: e2",
        "empty: nothing",
        "count: 3",
    ]
