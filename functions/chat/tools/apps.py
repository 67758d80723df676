"""The tools of the owner's installed apps: as many as a turn offers, and a way to the others."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from functions.chat.tools.relevance import best
from functions.chat.tools.toolkit import Found, Present, Tool, say
from shared import telemetry
from shared.arguments import Arguments, checked, spec
from shared.domain.app import App, ChatTool
from shared.domain.ids import UserId
from shared.domain.model import ToolSpec
from shared.domain.provenance import LIBRARY, Source
from shared.domain.text import count_tokens
from shared.ports import ToolBox

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]+")
MAX_NAME = 64
FEW = 40
"""So many are offered whatever is asked: an unchanging list keeps the provider's prompt cache."""
CHOSEN = 20
"""Of more, so many are chosen by the question."""
MAX_TOKENS = 10_000
"""Of all descriptions and schemas offered at the start."""
FOUND = 8
"""So many more a search brings, four times at most: a model API takes 128 in one request."""
SEARCHES = 4
FIND = "find_app_tools"
_MAX_NAMES = 1_000
_MAX_CATALOGUE = 6_000
_MARK = 17
"""Characters that make a name unique among apps; with fewer, one app could find another's name."""


def app_tools(
    toolbox: ToolBox, uid: UserId, apps: Sequence[App], question: str, earlier: Sequence[str] = ()
) -> list[Tool]:
    """Return the tools that a turn begins with, in an order that stays: apps by id, tools as declared.

    Few are offered all. Of many, those whose words fit the question and the owner's `earlier`
    messages, behind a tool that finds the others.
    """
    usable = [app for app in apps if app.is_visible_to(uid) and app.switched_off is None]
    tools = [_tool(toolbox, uid, app, declared) for app in usable for declared in app.chat_tools]
    offered = _fitting(tools) if len(tools) <= FEW else []
    if len(offered) == len(tools):
        return offered
    fitting = {tool.spec.name for tool in _fitting(islice(best(tools, question, earlier), CHOSEN))}
    telemetry.note(app_tools=len(tools), app_tools_offered=len(fitting))
    return [
        _finder([tool for tool in tools if tool.spec.name not in fitting], usable),
        *(tool for tool in tools if tool.spec.name in fitting),
    ]


def _fitting(tools: Iterable[Tool]) -> list[Tool]:
    """Return the first tools that stay within MAX_TOKENS together."""
    left = MAX_TOKENS
    fitting = []
    for tool in tools:
        left -= _tokens(tool.spec)
        if left >= 0:
            fitting.append(tool)
    return fitting


def _tokens(offered: ToolSpec) -> int:
    return count_tokens(offered.description + json.dumps(offered.parameters, ensure_ascii=False))


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


def _finder(others: Sequence[Tool], apps: Sequence[App]) -> Tool:
    """Offer a search over the tools that a turn did not begin with."""
    waiting = {tool.spec.name: tool for tool in others}
    searches = iter(range(SEARCHES))

    async def run(arguments: Mapping[str, Any]) -> Found:
        asked = checked(FIND, FindAppTools, arguments)
        if next(searches, None) is None:
            return Found(text="There were enough searches in this turn.")
        found = _fitting(best(list(waiting.values()), asked.query)[:FOUND])
        if not found:
            return Found(text=_catalogue(waiting.values()))
        for tool in found:
            del waiting[tool.spec.name]
        return Found(text=_overview(found), tools=found)

    described = spec(FIND, FindAppTools)
    names = ", ".join(_one_line(app.name) for app in apps)[:_MAX_NAMES]
    return Tool(
        spec=replace(described, description=f"{described.description}\nThe apps: {names}"),
        status="Looking for a tool",
        run=run,
        source=LIBRARY,
        side_effect=False,
    )


def _overview(found: Sequence[Tool]) -> str:
    return f"These can be called now: {', '.join(tool.spec.name for tool in found)}"


def _catalogue(waiting: Iterable[Tool]) -> str:
    """Say what there is, app by app, where no words of a search were met."""
    by_app: dict[str, list[str]] = {}
    for tool in waiting:
        by_app.setdefault(_one_line(tool.source.name), []).append(tool.spec.name[:-_MARK])
    lines = [f"- {app}: {', '.join(names)}" for app, names in by_app.items()]
    return "\n".join(["No tool fits these words. There are:", *lines])[:_MAX_CATALOGUE]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def model_name(app: App, declared: ChatTool) -> str:
    """Name a tool as the model API accepts it: at most 64 of `[A-Za-z0-9_-]`, unique per app."""
    digest = hashlib.sha256(f"{app.id}/{declared.name}".encode()).hexdigest()
    mark = f"_{digest}"[:_MARK]
    plain = _NOT_ALLOWED.sub("_", declared.name).strip("_") or "tool"
    return f"{plain[: MAX_NAME - _MARK]}{mark}"


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
        own_name=declared.name,
    )
