"""Offer of tools: which of many a turn begins with, and a search for the others.

Also called: tool selection, tool discovery.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated

from pydantic import Field

from functions.chat.context.budget import count_tool_tokens
from functions.chat.tools.app_tools import SUFFIX_CHARS
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.tool_ranking import rank_tools
from functions.chat.tools.toolkit import Tool, ToolSearchResult
from shared import telemetry
from shared.arguments import Arguments
from shared.domain.chats.built_in_names import BuiltInToolName

MAX_ALWAYS_OFFERED = 40
"""Up to this number all are offered: an unchanging list keeps the provider's prompt cache."""
MAX_SELECTED = 20
"""Beyond that, this many are selected by the question."""
MAX_OFFERED_TOKENS = 10_000
"""Budget of all descriptions and schemas offered at the start, and of those that a turn's searches add."""
OFFERED_SHARE = 8
"""In a smaller window, they get this part of it."""
MAX_PER_SEARCH = 8
"""Tools that one search adds; with MAX_SEARCHES below the 128 that a model API accepts."""
MAX_SEARCHES = 4
SEARCH_TOOL_NAME: BuiltInToolName = "find_app_tools"
_MAX_NAMES_CHARS = 1_000
_MAX_CATALOGUE_CHARS = 6_000


def compute_offered_tokens(window_tokens: int) -> int:
    """Return the budget of the tools of others in a window."""
    return min(MAX_OFFERED_TOKENS, window_tokens // OFFERED_SHARE)


def choose_tools(
    tools: Sequence[Tool],
    question: str,
    earlier: Sequence[str] = (),
    *,
    required: str | None = None,
    max_tokens: int = MAX_OFFERED_TOKENS,
) -> list[Tool]:
    """Return the tools that a turn begins with, in their order.

    A few are all offered. Of many, those that fit the question and the `earlier` messages are
    offered, and the `required` one, after a tool that finds the others.
    """
    offered_tools = take_fitting(tools, max_tokens) if len(tools) <= MAX_ALWAYS_OFFERED else []
    if len(offered_tools) == len(tools):
        return offered_tools
    ranked_tools = islice(rank_tools(tools, question, earlier), MAX_SELECTED)
    selected_names = {tool.spec.name for tool in take_fitting(ranked_tools, max_tokens)}
    if required is not None:
        selected_names.add(required)
    telemetry.add_fields(app_tools=len(tools), app_tools_offered=len(selected_names))
    others = [tool for tool in tools if tool.spec.name not in selected_names]
    return [
        _build_search_tool(others, max_tokens),
        *(tool for tool in tools if tool.spec.name in selected_names),
    ]


def take_fitting(tools: Iterable[Tool], max_tokens: int) -> list[Tool]:
    """Return the tools, from the first on, that fit together; the first may take twice as much alone."""
    tokens_left = max_tokens
    fitting: list[Tool] = []
    for tool in tools:
        tokens = count_tool_tokens(tool.spec)
        if tokens <= tokens_left or (not fitting and tokens <= 2 * max_tokens):
            fitting.append(tool)
            tokens_left -= tokens
    return fitting


class FindAppTools(Arguments):
    """Find tools of the owner's installed apps beside those listed here.

    Search whenever an app could do what is asked and no listed tool does. What is found can be
    called from then on.
    """

    query: Annotated[
        str,
        Field(description="What the tool should do and in which app, in English.", max_length=500),
    ]


def _build_search_tool(others: Sequence[Tool], max_tokens: int) -> Tool:
    """Offer a search over the tools that a turn did not begin with; it adds at most `max_tokens` in all."""
    remaining_tools = {tool.spec.name: tool for tool in others}
    searches = iter(range(MAX_SEARCHES))
    tokens_left = max_tokens

    async def search(arguments: FindAppTools) -> ToolSearchResult:
        nonlocal tokens_left
        if next(searches, None) is None or tokens_left <= 0:
            return ToolSearchResult(text="There were enough searches in this turn.")
        ranked_tools = rank_tools(list(remaining_tools.values()), arguments.query)
        matches = take_fitting(ranked_tools[:MAX_PER_SEARCH], tokens_left)
        if not matches:
            return ToolSearchResult(text=_format_catalogue(remaining_tools.values()))
        for tool in matches:
            del remaining_tools[tool.spec.name]
            tokens_left -= count_tool_tokens(tool.spec)
        return ToolSearchResult(text=_format_matches(matches), tools=matches)

    tool = build_builtin_tool(
        SEARCH_TOOL_NAME, "Looking for a tool", FindAppTools, search, tool_class="read"
    )
    seen_tools = (tool for tool in others if tool.standing == "known")
    names = ", ".join(dict.fromkeys(_to_one_line(tool.source.name) for tool in seen_tools))
    shown_names = names[: min(_MAX_NAMES_CHARS, max_tokens)]
    description = f"{tool.spec.description}\nThe apps: {shown_names}"
    return replace(tool, spec=replace(tool.spec, description=description))


def _format_matches(tools: Sequence[Tool]) -> str:
    return f"These can be called now: {', '.join(tool.spec.name for tool in tools)}"


def _format_catalogue(tools: Iterable[Tool]) -> str:
    """List the tools by app, where no tool matches a search."""
    by_app: dict[str, list[str]] = {}
    for tool in tools:
        by_app.setdefault(_get_shown_app_name(tool), []).append(_get_shown_name(tool))
    lines = [f"- {app}: {', '.join(names)}" for app, names in by_app.items()]
    return "\n".join(["No tool fits these words. There are:", *lines])[:_MAX_CATALOGUE_CHARS]


def _get_shown_app_name(tool: Tool) -> str:
    return _to_one_line(tool.source.name) if tool.standing == "known" else tool.source.id


def _get_shown_name(tool: Tool) -> str:
    return tool.spec.name[:-SUFFIX_CHARS] if tool.app_id else tool.spec.name


def _to_one_line(text: str) -> str:
    return " ".join(text.split())
