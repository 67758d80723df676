"""Tools of a small window: those that most questions use, by a fixed table, in a short form; pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from functions.chat.context.budget import count_tool_tokens
from functions.chat.tools.toolkit import Tool
from shared.domain.models.model import ToolSpec
from shared.domain.models.tokens import estimate_tokens

SMALL_SHARE = 3
"""A window is small where our rules and tools would take more than this part of it."""
ASKED_SHARE = 4
"""The same where it is known which tools the question asks for: a small model is better off with few."""
MAX_SMALL_TOOLS = 6
PASSAGE_TOOL = "search_conversations"
SMALL_WINDOW_TOOLS: Mapping[str, Sequence[str]] = {
    "search_conversations": ("query", "start_date", "end_date", "people"),
    "get_conversations": ("start_date", "end_date", "speaker"),
    "search_memories": ("query",),
    "get_action_items": ("completed", "due_start_date", "due_end_date", "owner_name"),
    "create_action_item": ("description", "due_at"),
    "remember": ("fact",),
    "search_files": ("query",),
    "search_chats": ("query",),
}
"""Tools with the arguments that they take there, those that most questions use first.

The first that a turn may use are offered, so that one stands in for another that it may not.
"""


def is_small(window_tokens: int, rules: str, tools: Sequence[Tool], *, knows_asked: bool) -> bool:
    taken = estimate_tokens(rules) + sum(count_tool_tokens(tool.spec) for tool in tools)
    return taken * (ASKED_SHARE if knows_asked else SMALL_SHARE) > window_tokens


def choose_for_small_window(tools: Sequence[Tool], needed: Collection[str]) -> list[Tool]:
    """Return the tools of the table in its order, and the `needed` ones, each in its short form."""
    by_name = {tool.spec.name: tool for tool in tools}
    usual = [name for name in SMALL_WINDOW_TOOLS if name in by_name][:MAX_SMALL_TOOLS]
    others = [name for name in by_name if name in needed and name not in usual]
    return [replace(by_name[name], spec=_shorten(by_name[name].spec)) for name in (*usual, *others)]


def choose_for_passages(tools: Sequence[Tool]) -> list[Tool]:
    """Return the search alone, in its short form: a small model that has the passages is confused by more."""
    return [
        replace(tool, spec=_shorten(tool.spec)) for tool in tools if tool.spec.name == PASSAGE_TOOL
    ]


def _shorten(spec: ToolSpec) -> ToolSpec:
    """Keep the first paragraph of a description, and the arguments that the table names."""
    properties = spec.parameters.get("properties", {})
    names = SMALL_WINDOW_TOOLS.get(spec.name, properties)
    kept = {name: _simplify(properties[name]) for name in names if name in properties}
    parameters = {key: part for key, part in spec.parameters.items() if key != "title"}
    first_paragraph = " ".join(spec.description.partition("\n\n")[0].split())
    return replace(spec, description=first_paragraph, parameters={**parameters, "properties": kept})


def _simplify(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Take out what a model can do without: that an argument may be left out is said elsewhere."""
    types = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    [only] = types if len(types) == 1 else [{}]
    rest = {**only, **{key: part for key, part in schema.items() if key != "anyOf" or not only}}
    return {key: part for key, part in rest.items() if key not in ("title", "default")}
