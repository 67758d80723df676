"""Results of tools as people are shown them: in words, without stamps, ids and names of machines (U8)."""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from functions.chat.tools.parsed_call import parse_call
from functions.chat.tools.toolkit import Tool, Toolkit, ToolOutcome
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.models.model import ToolCall
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.library import build_conversation, store_conversations, store_memories

MACHINE_TEXT = re.compile(
    r"""
    \d{4}-\d\d-\d\d | T\d\d:\d\d | [+-]\d\d:\d\d\b      # a stamp
    | \b[a-z]+_[a-z_]+\b                                # a name in a program
    | \b(?=\w*\d)(?=\w*[a-z])\w{12,}\b                  # an id
    | [{}\[\]]|\\[wdu] | ^\s*"                          # JSON, or a regular expression
    """,
    re.VERBOSE,
)
CALLS: dict[str, dict[str, Any]] = {
    "get_conversations": {},
    "search_conversations": {"query": "boat"},
    "get_people_and_events": {"kind": "people"},
    "get_memories": {},
    "search_memories": {"query": "boat"},
    "get_action_items": {},
    "create_action_item": {"description": "Call Ann", "due_at": "2026-03-10T02:00:00Z"},
    "remember": {"fact": "I like green tea"},
    "manage_daily_summary": {"hour": 20},
    "get_health_data": {"kinds": ["steps"]},
    "read_file": {"file_id": "none"},
    "search_files": {"query": "boat"},
    "create_chart": {
        "chart_type": "bar",
        "title": "Walks",
        "labels": ["Monday"],
        "datasets": [{"label": "Steps", "values": [8200]}],
    },
    "get_product_info": {"query": "import chats"},
    "search_web": {"query": "bread"},
    "search_chats": {"query": "boat"},
    "set_recall": {"recalls": False},
    "save_rule": {"text": "Be brief.", "user_quote": "Be brief."},
    "start_exercise": {"exercise_id": "breathing"},
}
CALLS_BY_ID = ("update_action_item", "update_memory", "delete_memories", "delete_conversation")


async def list_offered_tools(world: ChatFixture) -> Sequence[Tool]:
    """Return what a plain question is offered."""
    await world.deps().stores.profiles.change(ADA, time_zone="America/Los_Angeles")
    return (await prepare_turn(world.deps(), ADA, Question("Be brief."))).tools


async def run_tool(world: ChatFixture, name: str, arguments: str) -> ToolOutcome:
    toolkit = Toolkit(await list_offered_tools(world), timeout_s=5)
    call = parse_call(ToolCall(id="call_0", name=name, arguments=arguments), "run-1")
    (outcome,) = await toolkit.run([call])
    return outcome


def to_json(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments)


@pytest.fixture
async def library(world: ChatFixture) -> ChatFixture:
    await store_conversations(world, ADA, build_conversation(3, "The boat is blue.", "Yes."))
    await store_memories(world, ADA, ["User owns a boat"])
    return world


@pytest.mark.parametrize("name", CALLS)
async def test_a_result_is_shown_in_words_u8(library: ChatFixture, name: str) -> None:
    outcome = await run_tool(library, name, to_json(CALLS[name]))

    assert not outcome.failed
    assert not MACHINE_TEXT.search(outcome.display_text), outcome.display_text


@pytest.mark.parametrize("name", [*CALLS, *CALLS_BY_ID])
@pytest.mark.parametrize("arguments", ['{"limit": "x", "wrong_one": 1}', "{broken"])
async def test_a_wrong_call_is_shown_in_words(
    world: ChatFixture, name: str, arguments: str
) -> None:
    outcome = await run_tool(world, name, arguments)

    assert outcome.failed
    assert not MACHINE_TEXT.search(outcome.display_text), outcome.display_text


async def test_times_are_shown_on_the_owners_clock(library: ChatFixture) -> None:
    arguments = to_json(CALLS["create_action_item"])

    created = await run_tool(library, "create_action_item", arguments)
    repeated = await run_tool(library, "create_action_item", arguments)

    assert created.display_text == "Created:\n- Call Ann, due Monday 9 March 2026 at 19:00"
    assert "Monday 9 March 2026 at 19:00" in repeated.display_text
    assert "2026-03-09T19:00-07:00" in created.text


async def test_every_tool_that_a_plain_question_is_offered_is_called_here(
    world: ChatFixture,
) -> None:
    offered = {tool.spec.name for tool in await list_offered_tools(world)}

    assert offered == {*CALLS, *CALLS_BY_ID}


async def test_an_empty_library_is_told_in_words(world: ChatFixture) -> None:
    for name in ("get_conversations", "search_memories", "get_action_items"):
        outcome = await run_tool(world, name, to_json(CALLS[name]))
        assert not MACHINE_TEXT.search(outcome.display_text), outcome.display_text
