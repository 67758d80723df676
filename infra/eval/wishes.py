"""Honest wishes: messages in many languages, each with the call that a sensible model makes.

The wishes stand in wishes/, a file for each language, and the tools of their apps in wishes/tools.json;
each app has a developer of its own. A tool without an app is one of a service.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from functions.chat.tools.service_tools import build_service_tools, get_service_source
from functions.chat.tools.toolkit import Tool, render_fixed
from infra.eval.installed_apps import OWNER, build_installed_tools
from infra.eval.obedience import NOW, run_turn
from shared.domain.apps.app import App, ChatTool
from shared.domain.apps.connection import Connection, Service
from shared.domain.chats.confirmation import ConfirmationReason
from shared.domain.chats.consent import Consent, Grant
from shared.domain.ids import AppId, UserId
from shared.domain.models.model import ToolSpec
from shared.domain.provenance import LIBRARY
from shared.domain.value import value
from shared.integrations import INTEGRATIONS, load_integration
from shared.security.tool_class import ToolClass
from tests.fakes import RecordingToolbox
from tests.fixtures.chat import ChatFixture

FOLDER = Path(__file__).with_name("wishes")
State = Literal["first use", "library read", "always"]
"""`first use`: right after installing; `library read`: after the model searched the owner's memories;
`always`: after the owner granted always to the tool."""
Form = Literal["own words", "returned value", "other words", "translation", "code"]
"""Which words the arguments need beside dates, numbers and choices: only those of the message; what the
app returned before; other forms or words of the same language; English ones; or a code, such as of an
airport, a share, a currency or a search operator."""


@value
class WishedCall:
    """A call by the tool's own name. `tool_class` is what a person would call it."""

    tool: str
    tool_class: ToolClass
    arguments: Mapping[str, Any]
    result: str = "Done."
    form: Form = "own words"


@value
class Wish:
    """A message, the calls that serve it, the last of which is wished, and the app, if it is one."""

    language: str
    message: str
    calls: Sequence[WishedCall]
    app: App | None
    local_time: datetime = NOW


@value
class PlayedCall:
    """A call as it went: the class of its tool, and why the owner was asked, if they were."""

    wish: Wish
    call: WishedCall
    tool_class: ToolClass
    reason: ConfirmationReason | None


def load_wishes() -> list[Wish]:
    declared = _read_json(FOLDER / "tools.json")
    apps = {app.name: app for app in _build_apps(declared)}
    return [
        _build_wish(path.stem, entry, content["time_zone"], declared, apps)
        for path in sorted(FOLDER.glob("??.json"))
        for content in [_read_json(path)]
        for entry in content["wishes"]
    ]


async def play_wish(world: ChatFixture, wish: Wish, state: State) -> PlayedCall:
    """Play a wish in a turn of a fresh owner, who approves each call; return how its last one went."""
    toolbox = RecordingToolbox(answer=wish.calls[0].result)
    tools = {tool.name: tool for tool in _offer_tools(replace(world, toolbox=toolbox), wish, state)}
    steps = [(tools[call.tool].spec.name, call.arguments) for call in wish.calls]
    if state == "library read":
        steps.insert(0, (_LIBRARY_TOOL.name, {}))
    reasons = await run_turn(
        wish.message,
        [_LIBRARY_TOOL, *tools.values()],
        steps,
        wished_steps=range(len(steps)),
        local_time=wish.local_time,
    )
    call = wish.calls[-1]
    tool_class = tools[call.tool].tool_class
    return PlayedCall(wish=wish, call=call, tool_class=tool_class, reason=reasons[-1])


def build_app(name: str, tools: Sequence[ChatTool]) -> App:
    """Build an app of a developer of its own."""
    return App(
        id=AppId(name.lower()),
        owner=UserId(f"developer of {name}"),
        private=False,
        name=name,
        created_at=NOW,
        chat_tools=tuple(tools),
    )


def _offer_tools(world: ChatFixture, wish: Wish, state: State) -> Sequence[Tool]:
    granted = [call.tool for call in wish.calls] if state == "always" else []
    if wish.app is not None:
        always = [(wish.app.id, name) for name in granted]
        return build_installed_tools(world.toolbox, [wish.app], wish.message, always=always)
    service = _find_services()[wish.calls[-1].tool]
    connection = Connection(id=service, account="", scopes=(), connected_at=NOW)
    grants = {name: Grant(pin="", state="always") for name in granted}
    source = get_service_source(load_integration(service))
    consent = Consent(grants={source.key: grants})
    return list(build_service_tools(world.deps(), OWNER, [connection], consent))


@cache
def _find_services() -> Mapping[str, Service]:
    return {tool.name: name for name in INTEGRATIONS for tool in load_integration(name).tools}


def _build_apps(declared: Mapping[str, Any]) -> Iterator[App]:
    tools_by_app: dict[str, list[ChatTool]] = {}
    for name, entry in declared.items():
        if "app" in entry:
            tools_by_app.setdefault(entry["app"], []).append(_build_tool(name, entry))
    return (build_app(name, tools) for name, tools in tools_by_app.items())


def _build_tool(name: str, entry: Mapping[str, Any]) -> ChatTool:
    return ChatTool(
        name=name,
        description=entry["description"],
        endpoint="https://app.example",
        method=entry["method"],
        read_only=entry["read_only"],
        parameters=entry["parameters"],
    )


def _build_wish(
    language: str,
    entry: Mapping[str, Any],
    time_zone: str,
    declared: Mapping[str, Any],
    apps: Mapping[str, App],
) -> Wish:
    calls = [*entry.get("earlier", ()), entry]
    return Wish(
        language=language,
        message=entry["message"],
        calls=[
            WishedCall(
                tool=call["tool"],
                tool_class=declared[call["tool"]]["class"],
                arguments=call["arguments"],
                result=call.get("result", "Done."),
                form=call.get("form", "own words"),
            )
            for call in calls
        ],
        app=apps.get(declared[entry["tool"]].get("app", "")),
        local_time=NOW.astimezone(ZoneInfo(time_zone)),
    )


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


async def _search_library(*_: object) -> Any:
    return render_fixed("2026-02-11: Nina's new door code is 4471. She met Karim in Oslo.")


_LIBRARY_TOOL = Tool(
    spec=ToolSpec(name="search_memories", description="Search memories", parameters={}),
    status="Searching memories",
    run=_search_library,
    source=LIBRARY,
    tool_class="read",
)
