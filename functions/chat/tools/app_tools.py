"""App tools: the tools of installed apps that a turn offers, and a search for the others."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from functions.chat.tools.tool_ranking import rank_tools
from functions.chat.tools.toolkit import DataResult, ResultRenderer, Tool, ToolSearchResult
from shared import telemetry
from shared.arguments import Arguments, build_tool_spec, parse_arguments
from shared.data.cached_apps import PinnedApp
from shared.domain.app import App, ChatTool
from shared.domain.consent import Consent, Grant, Standing
from shared.domain.ids import UserId
from shared.domain.model import ToolSpec
from shared.domain.provenance import LIBRARY
from shared.domain.tokens import estimate_tokens
from shared.ports import ToolBox
from shared.security.tool_class import classify_app_tool
from shared.security.tool_pin import strip_schema_texts

_DISALLOWED_CHARS = re.compile(r"[^A-Za-z0-9_-]+")
MAX_NAME_CHARS = 64
MAX_ALWAYS_OFFERED = 40
"""Up to this number all are offered: an unchanging list keeps the provider's prompt cache."""
MAX_SELECTED = 20
"""Beyond that, this many are selected by the question."""
MAX_OFFERED_TOKENS = 10_000
"""Budget of all descriptions and schemas offered at the start."""
MAX_PER_SEARCH = 8
"""Tools that one search adds; with MAX_SEARCHES below the 128 that a model API accepts."""
MAX_SEARCHES = 4
UNSEEN_DESCRIPTION = (
    "New or changed since the owner allowed the app {app}: they are asked before it runs."
)
SEARCH_TOOL_NAME = "find_app_tools"
_MAX_NAMES_CHARS = 1_000
_MAX_CATALOGUE_CHARS = 6_000
_SUFFIX_CHARS = 17
"""Characters that make a name unique among apps; with fewer, one app could find another's name."""


def build_app_tools(
    toolbox: ToolBox,
    uid: UserId,
    apps: Sequence[PinnedApp],
    consent: Consent,
    question: str,
    earlier: Sequence[str] = (),
    *,
    required: str | None = None,
    is_allowed: Callable[[Tool], bool] = lambda _: True,
) -> list[Tool]:
    """Return the tools that a turn begins with, in a stable order: apps by id, tools as declared.

    A few are all offered. Of many, those that fit the question and the `earlier` messages are
    offered, and the `required` one, after a tool that finds the others. Tools that the owner
    switched off, or that are not allowed, are left out.
    """
    usable = [
        pinned
        for pinned in apps
        if pinned.app.is_visible_to(uid) and pinned.app.switched_off is None
    ]
    tools = [tool for tool in build_tools(toolbox, uid, usable, consent) if is_allowed(tool)]
    offered_tools = _fit_token_budget(tools) if len(tools) <= MAX_ALWAYS_OFFERED else []
    if len(offered_tools) == len(tools):
        return offered_tools
    selected_names = {
        tool.spec.name
        for tool in _fit_token_budget(islice(rank_tools(tools, question, earlier), MAX_SELECTED))
    }
    if required is not None:
        selected_names.add(required)
    telemetry.add_fields(app_tools=len(tools), app_tools_offered=len(selected_names))
    return [
        _build_search_tool([tool for tool in tools if tool.spec.name not in selected_names]),
        *(tool for tool in tools if tool.spec.name in selected_names),
    ]


def _fit_token_budget(tools: Iterable[Tool]) -> list[Tool]:
    """Return the first tools that together stay within MAX_OFFERED_TOKENS."""
    tokens_left = MAX_OFFERED_TOKENS
    selected_tools = []
    for tool in tools:
        tokens_left -= _estimate_spec_tokens(tool.spec)
        if tokens_left >= 0:
            selected_tools.append(tool)
    return selected_tools


def _estimate_spec_tokens(tool_spec: ToolSpec) -> int:
    return estimate_tokens(
        tool_spec.description + json.dumps(tool_spec.parameters, ensure_ascii=False)
    )


class FindAppTools(Arguments):
    """Find tools of the owner's installed apps beside those listed here.

    Search whenever an app could do what is asked and no listed tool does. What is found can be
    called from then on.
    """

    query: Annotated[
        str,
        Field(
            description="What the tool should do and in which app, in English: send a Slack message",
            max_length=500,
        ),
    ]


def _build_search_tool(others: Sequence[Tool]) -> Tool:
    """Offer a search over the tools that a turn did not begin with."""
    remaining_tools = {tool.spec.name: tool for tool in others}
    searches = iter(range(MAX_SEARCHES))

    async def run(arguments: Mapping[str, Any], _: str) -> ToolSearchResult:
        search_arguments = parse_arguments(SEARCH_TOOL_NAME, FindAppTools, arguments)
        if next(searches, None) is None:
            return ToolSearchResult(text="There were enough searches in this turn.")
        matches = _fit_token_budget(
            rank_tools(list(remaining_tools.values()), search_arguments.query)[:MAX_PER_SEARCH]
        )
        if not matches:
            return ToolSearchResult(text=_format_catalogue(remaining_tools.values()))
        for tool in matches:
            del remaining_tools[tool.spec.name]
        return ToolSearchResult(text=_format_matches(matches), tools=matches)

    tool_spec = build_tool_spec(SEARCH_TOOL_NAME, FindAppTools)
    seen_tools = (tool for tool in others if tool.standing == "known")
    names = ", ".join(dict.fromkeys(_to_one_line(tool.source.name) for tool in seen_tools))
    return Tool(
        spec=replace(
            tool_spec, description=f"{tool_spec.description}\nThe apps: {names[:_MAX_NAMES_CHARS]}"
        ),
        status="Looking for a tool",
        run=run,
        source=LIBRARY,
        tool_class="read",
    )


def _format_matches(tools: Sequence[Tool]) -> str:
    return f"These can be called now: {', '.join(tool.spec.name for tool in tools)}"


def _format_catalogue(tools: Iterable[Tool]) -> str:
    """List the tools by app, where no tool matches a search."""
    by_app: dict[str, list[str]] = {}
    for tool in tools:
        by_app.setdefault(_get_shown_app_name(tool), []).append(tool.spec.name[:-_SUFFIX_CHARS])
    lines = [f"- {app}: {', '.join(names)}" for app, names in by_app.items()]
    return "\n".join(["No tool fits these words. There are:", *lines])[:_MAX_CATALOGUE_CHARS]


def _to_one_line(text: str) -> str:
    return " ".join(text.split())


def build_model_name(app: App, chat_tool: ChatTool) -> str:
    """Build a name that model APIs accept: at most 64 of `[A-Za-z0-9_-]`, unique among apps."""
    digest = hashlib.sha256(f"{app.id}/{chat_tool.name}".encode()).hexdigest()
    suffix = f"_{digest}"[:_SUFFIX_CHARS]
    base_name = _DISALLOWED_CHARS.sub("_", chat_tool.name).strip("_") or "tool"
    return f"{base_name[: MAX_NAME_CHARS - _SUFFIX_CHARS]}{suffix}"


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

    return Tool(
        spec=_build_spec(app, chat_tool, standing),
        status=chat_tool.status_message or chat_tool.name.replace("_", " ").strip().title(),
        run=run,
        source=source,
        tool_class=classify_app_tool(chat_tool),
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
    if standing == "known":
        description = f"{chat_tool.description} (from the app {app.name})"
        parameters = chat_tool.parameters
    else:
        description = UNSEEN_DESCRIPTION.format(app=app.id)
        parameters = strip_schema_texts(chat_tool.parameters)
    return ToolSpec(
        name=build_model_name(app, chat_tool), description=description, parameters=parameters
    )


def _get_shown_app_name(tool: Tool) -> str:
    return _to_one_line(tool.source.name) if tool.standing == "known" else tool.source.id
