"""The tools of the owner's installed apps, as one turn offers them."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from functions.chat.toolkit import Present, Tool, say
from shared.domain.app import App, ChatTool
from shared.domain.ids import UserId
from shared.domain.model import ToolSpec
from shared.ports import ToolBox

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]+")
MAX_NAME = 64


def app_tools(toolbox: ToolBox, uid: UserId, apps: Sequence[App]) -> list[Tool]:
    """Return every declared tool, in the order of the apps and of their manifests."""
    return [_tool(toolbox, uid, app, declared) for app in apps for declared in app.chat_tools]


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
        app_id=app.id,
    )
