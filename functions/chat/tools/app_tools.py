"""App tools: the tools of installed apps, as a model knows them."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from functions.chat.tools.toolkit import DataResult, ResultRenderer, Tool
from shared.data.apps.cached_apps import PinnedApp
from shared.domain.apps.app import App, ChatTool
from shared.domain.chats.consent import Consent, Grant, Standing
from shared.domain.ids import UserId
from shared.domain.models.model import ToolSpec
from shared.models.argument_check import require_fit
from shared.models.schema_forms import MAX_DESCRIPTION_CHARS
from shared.models.schemas import read_parameters
from shared.ports import ToolBox
from shared.security.fencing import quote_untrusted
from shared.security.tool_class import classify_app_tool
from shared.security.tool_pin import strip_schema_texts

_DISALLOWED_CHARS = re.compile(r"[^A-Za-z0-9_-]+")
MAX_NAME_CHARS = 64
SUFFIX_CHARS = 17
"""Characters that make a name unique among apps; with fewer, one app could find another's name."""
UNSEEN_DESCRIPTION = (
    "New or changed since the owner allowed the app {app}: they are asked before it runs."
)


def build_app_tools(
    toolbox: ToolBox, uid: UserId, apps: Sequence[PinnedApp], consent: Consent
) -> list[Tool]:
    """Return the tools of installed apps in a stable order: apps by id, tools as declared.

    Those of apps that the owner may not use now are left out, and those that they switched off.
    """
    usable = [
        pinned
        for pinned in apps
        if pinned.app.is_visible_to(uid) and pinned.app.switched_off is None
    ]
    return build_tools(toolbox, uid, usable, consent)


def build_model_name(app: App, chat_tool: ChatTool) -> str:
    """Build a name that model APIs accept: at most 64 of `[A-Za-z0-9_-]`, unique among apps."""
    digest = hashlib.sha256(f"{app.id}/{chat_tool.name}".encode()).hexdigest()
    suffix = f"_{digest}"[:SUFFIX_CHARS]
    base_name = _DISALLOWED_CHARS.sub("_", chat_tool.name).strip("_") or "tool"
    return f"{base_name[: MAX_NAME_CHARS - SUFFIX_CHARS]}{suffix}"


def build_tools(
    toolbox: ToolBox, uid: UserId, apps: Sequence[PinnedApp], consent: Consent
) -> list[Tool]:
    """Return all tools of apps that the owner did not switch off."""
    counts = Counter[str]()
    for pinned in apps:
        counts[pinned.app.maker] += len(pinned.app.chat_tools)
    return [
        tool
        for pinned in apps
        for chat_tool in pinned.app.chat_tools
        if (tool := _build_tool(toolbox, uid, pinned, chat_tool, consent, counts)) is not None
    ]


def _build_tool(
    toolbox: ToolBox,
    uid: UserId,
    pinned: PinnedApp,
    chat_tool: ChatTool,
    consent: Consent,
    tool_counts: Mapping[str, int],
) -> Tool | None:
    """Build a tool; None for one that is switched off."""
    app, pin = pinned.app, pinned.pins[chat_tool.name]
    source = app.source
    grant = consent.find_grant(source, chat_tool.name)
    if grant is not None and grant.state == "off":
        return None
    standing = _get_standing(grant, pin)

    async def run(arguments: Mapping[str, Any], call_id: str) -> ResultRenderer:
        return DataResult(
            data=await toolbox.call(
                uid, app.id, chat_tool.name, arguments, call_id=call_id, pin=pin
            )
        )

    spec = _build_spec(app, chat_tool, standing)
    return Tool(
        spec=spec,
        status=chat_tool.status_message or chat_tool.name.replace("_", " ").strip().title(),
        run=run,
        source=source,
        tool_class=classify_app_tool(chat_tool),
        check=partial(require_fit, chat_tool.name, spec.parameters),
        own_name=chat_tool.name,
        maker=app.maker,
        maker_tools=tool_counts[app.maker],
        pin=pin,
        standing=standing,
        always_allowed=standing == "known" and grant is not None and grant.state == "always",
    )


def _get_standing(grant: Grant | None, pin: str) -> Standing:
    if grant is None:
        return "new"
    return "known" if grant.pin == pin else "changed"


def _build_spec(app: App, chat_tool: ChatTool, standing: Standing) -> ToolSpec:
    """Describe a tool to the model; a maker's text is given only as the owner saw it."""
    given = chat_tool.given_arguments
    parameters = read_parameters(chat_tool.parameters, given=given)
    if standing == "known":
        maker = f" (from the app {quote_untrusted(app.name)})"
        description = chat_tool.description[: MAX_DESCRIPTION_CHARS - len(maker)] + maker
    else:
        description = UNSEEN_DESCRIPTION.format(app=app.id)
        parameters = read_parameters(strip_schema_texts(parameters), given=given)
    return ToolSpec(
        name=build_model_name(app, chat_tool),
        description=description,
        parameters=parameters,
        source=app.source,
    )
