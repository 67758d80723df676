"""Calls of apps' tools: the one whose description fits a question best, where the question can fill it; pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shared.adapters.embedded.offline.speech import list_content_terms
from shared.domain.models.model import ToolSpec

_OBJECT_PHRASE = re.compile(
    r"(?!wh|how)(?:please |can you |could you )?\w+ (.+?) (?:to|on|onto|in|into|off|from) (?:the|my|our) .+",
    re.IGNORECASE | re.DOTALL,
)
"""The object of a request: "please add oat milk to my list"."""
_MIN_SHARED_TERMS = 2
_CALLED_BY_INTENT = frozenset((
    "search_conversations", "get_conversations", "delete_conversation", "search_memories", "get_memories", "remember",
    "delete_memories", "get_action_items", "create_action_item", "update_action_item", "manage_daily_summary",
    "get_product_info", "read_web_page",
))  # fmt: skip


def plan_app_calls(question: str, tools: Sequence[ToolSpec]) -> list[tuple[str, Mapping[str, Any]]]:
    """Call the tools that fit best; none where too few words are shared."""
    return [(tool.name, _build_arguments(tool, question)) for tool in _select_best(tools, question)]


def _select_best(tools: Sequence[ToolSpec], question: str) -> Iterator[ToolSpec]:
    fits = {tool.name: _measure_fit(tool, question) for tool in tools if _is_app_tool(tool)}
    best_fit = max((fit for fit in fits.values() if fit[0] >= _MIN_SHARED_TERMS), default=None)
    yield from (tool for tool in tools if best_fit is not None and fits.get(tool.name) == best_fit)


def _is_app_tool(tool: ToolSpec) -> bool:
    """Tell whether no intent leads to it, and the question alone can fill what it requires."""
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    is_simple = len(required) <= 1 and all(_takes_text(properties.get(n, {})) for n in required)
    return tool.name not in _CALLED_BY_INTENT and is_simple


def _takes_text(parameter: Mapping[str, Any]) -> bool:
    return parameter.get("type") == "string" and "enum" not in parameter


def _measure_fit(tool: ToolSpec, question: str) -> tuple[int, bool]:
    """Count shared words; between equals, a tool with an argument suits a question with an object."""
    described = list_content_terms(f"{tool.name} {tool.description}")
    has_object = _OBJECT_PHRASE.fullmatch(question.strip()) is not None
    is_suited = has_object == bool(tool.parameters.get("required"))
    return len(described & list_content_terms(question)), is_suited


def _build_arguments(tool: ToolSpec, question: str) -> Mapping[str, Any]:
    match = _OBJECT_PHRASE.fullmatch(question.strip())
    return dict.fromkeys(tool.parameters.get("required", []), match[1] if match else question)
