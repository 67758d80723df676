"""Tools as apps declare them and models read them: mended, complete, and without what we set (N3)."""

import json
from dataclasses import replace
from typing import Any

import pytest

from functions.chat.tools.app_tools import build_app_tools
from functions.chat.tools.parsed_call import ParsedCall, parse_call
from functions.chat.tools.toolkit import Tool
from shared.domain.apps.app import App, ChatTool
from shared.domain.chats.consent import Consent
from shared.domain.ids import AppId
from shared.domain.models.model import ToolCall
from shared.models.schemas import normalise_tool
from tests.fakes import FixedClock, RecordingToolbox
from tests.fixtures.chat import ADA, EVE
from tests.fixtures.tool_pins import consent_to, pin_apps

TASTING: dict[str, Any] = {
    "properties": {
        "uid": {"type": "string", "description": "The user"},
        "notes": {"type": "array", "required": True},
        "score": {"type": "float"},
    },
    "required": ["uid", "app_id"],
}


def build_tool(chat_tool: ChatTool, *, is_seen: bool = True) -> Tool:
    app = App(
        id=AppId("A"),
        owner=EVE,
        name="Tasting",
        created_at=FixedClock().now(),
        private=False,
        chat_tools=(chat_tool,),
    )
    consent = consent_to([app]) if is_seen else Consent()
    [tool] = build_app_tools(RecordingToolbox(), ADA, pin_apps([app]), consent)
    return tool


def declare(**changes: Any) -> ChatTool:
    tool = ChatTool(
        name="taste", description="Note it.", endpoint="https://a.example.com", parameters=TASTING
    )
    return replace(tool, **changes)


def call(tool: Tool, **arguments: Any) -> ParsedCall:
    request = ToolCall(id="c1", name=tool.spec.name, arguments=json.dumps(arguments))
    return parse_call(request, "u1", tool.spec.parameters)


@pytest.mark.parametrize("is_seen", [True, False])
def test_a_model_is_asked_for_nothing_that_each_call_has_n3(is_seen: bool) -> None:  # noqa: FBT001 - a case
    tool = build_tool(declare(), is_seen=is_seen)

    sent = normalise_tool(tool.spec).parameters

    assert sent["required"] == ["notes"]
    assert sent["properties"] == {
        "notes": {"type": "array", "items": {"type": "string"}},
        "score": {"type": "number"},
    }
    assert call(tool, uid="unknown", notes=["dry"], score=None).arguments == {"notes": ["dry"]}


def test_a_server_of_mcp_may_have_parameters_of_these_names_n3() -> None:
    """Dashboards, mails and apps of other services have a `uid` and an `app_id` of their own."""
    dashboard = {"properties": {"uid": {"type": "string"}}, "required": ["uid"]}
    tool = build_tool(declare(transport="mcp", parameters=dashboard))

    assert normalise_tool(tool.spec).parameters["required"] == ["uid"]
    assert call(tool, uid="d1").arguments == {"uid": "d1"}


def test_a_long_description_still_names_its_app_n3() -> None:
    tool = build_tool(declare(description="Note it. " * 400))

    description = normalise_tool(tool.spec).description

    assert len(description) <= 1_000
    assert description.endswith(' (from the app "Tasting")')


def test_a_tool_of_an_app_names_who_declared_it_n3() -> None:
    tool = build_tool(declare())

    assert tool.spec.source == tool.source
