"""P9: what one turn offers of the installed apps' tools."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from functions.chat.app_tools import MAX_CHARS, MAX_TOOLS, app_tools
from shared.domain.app import App, ChatTool, Method
from shared.domain.ids import AppId, UserId
from shared.domain.provenance import Source
from tests.doubles import FixedClock
from tests.functions.chat.conftest import ADA, EVE, RecordingToolbox

APP = App(id=AppId("A"), owner=EVE, name="Notes", created_at=FixedClock().now(), private=False)


def app(app_id: str, *, tools: int, parameters: dict[str, Any] | None = None) -> App:
    declared = (
        ChatTool(
            name=f"t{n}",
            description="Do it",
            endpoint="https://a.example.com",
            parameters=parameters or {},
        )
        for n in range(tools)
    )
    return replace(APP, id=AppId(app_id), chat_tools=tuple(declared))


def offered(*apps: App, uid: UserId = ADA) -> list[tuple[str | None, str]]:
    return [(tool.app_id, tool.spec.name[:-7]) for tool in app_tools(RecordingToolbox(), uid, apps)]


def test_many_apps_share_the_places_a_model_has_for_tools():
    found = offered(*(app(f"A{n:02}", tools=40) for n in range(50)))

    assert len(found) == MAX_TOOLS
    assert {app_id for app_id, _ in found} == {f"A{n:02}" for n in range(50)}


def test_large_schemas_leave_each_app_its_first_tools_and_the_prompt_bounded():
    large = {"description": "d" * (MAX_CHARS // 10)}
    found = offered(app("A", tools=20, parameters=large), app("B", tools=2))

    assert found[:4] == [("A", "t0"), ("B", "t0"), ("A", "t1"), ("B", "t1")]
    assert len(found) == 11


def test_an_app_that_became_private_offers_its_tools_to_its_owner_only():
    private = replace(app("A", tools=1), private=True)

    assert offered(private, uid=ADA) == []
    assert offered(private, uid=EVE) == [("A", "t0")]


CALLED: Sequence[tuple[Method, bool]] = [
    ("GET", True),
    ("GET", False),
    ("POST", True),
    ("DELETE", False),
]


def test_t11_an_apps_tool_has_side_effects_unless_it_is_get_and_declared_read_only():
    declared = tuple(
        ChatTool(
            name=f"t{n}",
            description="d",
            endpoint="https://a.example.com",
            method=method,
            read_only=read_only,
        )
        for n, (method, read_only) in enumerate(CALLED)
    )
    tools = app_tools(RecordingToolbox(), ADA, [replace(APP, chat_tools=declared)])

    assert [tool.side_effect for tool in tools] == [False, True, True, True]
    assert {tool.source for tool in tools} == {Source(kind="app", id="A", name="Notes")}
