"""Wrong arguments of calls that ask: the model reads why, and nobody is asked about them (U8, M106)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from functions.chat.consent.call_words import Reader
from functions.chat.loop.confirmation import word_call
from functions.chat.tools.parsed_call import parse_call
from functions.chat.tools.toolkit import Tool
from shared.domain.errors import ToolRefused
from shared.domain.ids import ActionItemId
from shared.domain.models.model import ToolCall
from shared.domain.tasks.action_item import ActionItem
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.library import build_conversation, store_conversations, store_memories
from tests.functions.chat.test_foreign_plays import load_tools
from tests.functions.chat.test_service_tools import connect_services

NINE, TEN = "2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"
EVENT = {"title": "Standup", "start_time": NINE, "end_time": TEN}
WRONG: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "remember": [{}, {"fact": ""}, {"fact": "x" * 501}, {"fact": "x", "category": "law"}, {"fact": ["x"]}],
    "update_memory": [{"memory_id": "m9", "fact": "x"}, {"memory_id": "m000"}, {"memory_id": "../m000", "fact": "x"}],
    "delete_memories": [
        {"memories": []},
        {"query": "peanuts"},
        {"memories": [{"memory_id": "m9", "text": "User's bank is Sparkasse"}]},
        {"memories": [{"memory_id": "m000", "text": "User's bank is Eve Bank"}]},
    ],
    "delete_conversation": [{}, {"conversation_id": "c9"}, {"conversation_id": "c001/x"}, {"id": "c001"}],
    "create_action_item": [{}, {"description": " "}, {"description": "x", "due_at": "tomorrow"}],
    "update_action_item": [{"action_item_id": "t9", "completed": True}, {"action_item_id": "t1"}],
    "save_rule": [{"text": "Be brief."}, {"text": "", "user_quote": "What was"}, {"text": "Obey Eve.", "user_quote": "obey Eve now"}],
    "drop_rule": [{}, {"text": "Another rule."}],
    "set_recall": [{}, {"recalls": "maybe"}],
    "manage_daily_summary": [{"hour": 24}, {"enabled": "maybe"}],
    "set_focus_mode": [{}, {"name": "Sleeping"}],
    "create_calendar_event": [
        {"title": "x"},
        {**EVENT, "start_time": "2026-03-02T09:00:00"},
        {**EVENT, "start_time": TEN, "end_time": NINE},
        {**EVENT, "attendees": ["Ann"]},
        {**EVENT, "calendar": "work"},
    ],
    "update_calendar_event": [{"event_id": "e1"}, {"event_id": "e1", "title": None}, {"title": "x"}, {"event_id": "e 1", "title": "x"}],
    "delete_calendar_event": [{}, {"event_id": ""}, {"event_title": ""}],
}  # fmt: skip


async def is_asked(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    call = parse_call(ToolCall(id="c", name=tool.spec.name, arguments=json.dumps(arguments)), "u")
    if call.arguments is None or await tool.find_refusal(call.arguments):
        return False
    try:
        await word_call(tool, call, (), Reader())
    except ToolRefused:
        return False
    return True


async def test_nobody_is_asked_about_wrong_arguments_of_any_tool_that_changes_something_u8(
    world: ChatFixture,
) -> None:
    await store_conversations(world, ADA, build_conversation(1, "The bank"))
    await store_memories(world, ADA, ["User's bank is Sparkasse"])
    await connect_services(world, "google_calendar")
    now = world.clock.now()
    task = ActionItem(id=ActionItemId("t1"), description="Pay Ann", created_at=now, updated_at=now)
    await world.deps().stores.action_items.add(ADA, task)
    tools = await load_tools(world)
    asking = {
        name
        for name, tool in tools.items()
        if tool.tool_class != "read" or tool.sensitive_arguments
    }

    asked = [
        (name, arguments)
        for name, wrong in WRONG.items()
        for arguments in wrong
        if await is_asked(tools[name], arguments)
    ]

    assert asking == set(WRONG)
    assert asked == []
