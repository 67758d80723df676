"""The tools of the owner's installed apps, as one turn offers them."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from functions.chat.toolkit import Present, Tool, say
from shared import telemetry
from shared.domain.app import App, ChatTool
from shared.domain.ids import UserId
from shared.domain.model import ToolSpec
from shared.domain.provenance import Source
from shared.ports import ToolBox

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]+")
MAX_NAME = 64
MAX_TOOLS = 120
"""A model API takes 128 in one request; the others are our own."""
MAX_CHARS = 200_000
"""Of all descriptions and schemas together: about 50,000 tokens of every request."""


def app_tools(toolbox: ToolBox, uid: UserId, apps: Sequence[App]) -> list[Tool]:
    """Return the tools of apps that this owner may see, every app's first before any second.

    What goes beyond MAX_TOOLS or MAX_CHARS is left out: with it no model would answer at all.
    """
    lists = [[(app, tool) for tool in app.chat_tools] for app in apps if app.is_visible_to(uid)]
    by_turns = [place for row in zip_longest(*lists) for place in row if place is not None]
    fitting = list(_fitting(by_turns))
    if len(fitting) < len(by_turns):
        telemetry.note(app_tools_left_out=len(by_turns) - len(fitting))
    return [_tool(toolbox, uid, app, declared) for app, declared in fitting]


def _fitting(declared: Sequence[tuple[App, ChatTool]]) -> Iterator[tuple[App, ChatTool]]:
    chars = 0
    for app, tool in declared[:MAX_TOOLS]:
        chars += len(tool.description) + len(json.dumps(tool.parameters, ensure_ascii=False))
        if chars > MAX_CHARS:
            return
        yield app, tool


def model_name(app: App, declared: ChatTool) -> str:
    """Name a tool as the model API accepts it: at most 64 of `[A-Za-z0-9_-]`, unique per app."""
    mark = hashlib.sha256(f"{app.id}/{declared.name}".encode()).hexdigest()[:6]
    plain = _NOT_ALLOWED.sub("_", declared.name).strip("_") or "tool"
    return f"{plain[: MAX_NAME - len(mark) - 1]}_{mark}"


def _tool(toolbox: ToolBox, uid: UserId, app: App, declared: ChatTool) -> Tool:
    async def run(arguments: Mapping[str, Any]) -> Present:
        return say(await toolbox.call(uid, app.id, declared.name, arguments))

    return Tool(
        spec=ToolSpec(
            name=model_name(app, declared),
            description=f"{declared.description} (from the app {app.name})",
            parameters=declared.parameters,
        ),
        status=declared.status_message or declared.name.replace("_", " ").strip().title(),
        run=run,
        source=Source(kind="app", id=app.id, name=app.name),
        side_effect=declared.side_effect,
    )
