"""Results of tools as people are shown them: in words, without stamps, ids and names of machines (U8)."""

import json
import re
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from functions.chat.tools.chart_tools import build_chart_tools
from functions.chat.tools.file_tools import build_file_tools
from functions.chat.tools.health_tools import build_health_tools
from functions.chat.tools.library_tools import build_library_tools
from functions.chat.tools.memory_tools import build_memory_tools
from functions.chat.tools.parsed_call import parse_call
from functions.chat.tools.product_tools import build_product_tools
from functions.chat.tools.summary_tools import build_summary_tools
from functions.chat.tools.task_tools import build_task_tools
from functions.chat.tools.toolkit import Tool, Toolkit, ToolOutcome
from functions.chat.tools.web_tools import build_web_tools
from shared.domain.models.model import ToolCall
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.library import build_conversation, store_conversations, store_memories

ZONE = ZoneInfo("America/Los_Angeles")
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
}
CALLS_BY_ID = ("update_action_item", "update_memory", "delete_memories")


def build_tools(world: ChatFixture) -> list[Tool]:
    deps = world.deps()
    return [
        *build_library_tools(deps, ADA, ZONE),
        *build_task_tools(deps, ADA, ZONE),
        *build_memory_tools(deps, ADA),
        *build_summary_tools(deps, ADA),
        *build_health_tools(deps, ADA, ZONE),
        *build_file_tools(deps, ADA, can_search=True),
        *build_chart_tools(),
        *build_product_tools(),
        *build_web_tools(can_search=False),
    ]


async def run_tool(world: ChatFixture, name: str, arguments: str) -> ToolOutcome:
    toolkit = Toolkit(build_tools(world), timeout_s=5)
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


def test_every_tool_of_the_library_is_called_here(world: ChatFixture) -> None:
    assert {tool.spec.name for tool in build_tools(world)} == {*CALLS, *CALLS_BY_ID}


async def test_an_empty_library_is_told_in_words(world: ChatFixture) -> None:
    for name in ("get_conversations", "search_memories", "get_action_items"):
        outcome = await run_tool(world, name, to_json(CALLS[name]))
        assert not MACHINE_TEXT.search(outcome.display_text), outcome.display_text
