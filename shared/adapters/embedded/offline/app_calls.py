"""Calls of apps' tools: the one whose description fits a question best, where the question can fill it; pure."""

import re
from collections.abc import Mapping, Sequence
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
    """Call the tools that share most words, two at least; between equals, one with an argument suits an object."""
    object_phrase = _OBJECT_PHRASE.fullmatch(question.strip())
    asked = list_content_terms(question)
    fits = {
        tool.name: (
            len(asked & list_content_terms(f"{tool.name} {tool.description}")),
            bool(object_phrase) == bool(tool.parameters.get("required")),
        )
        for tool in tools
        if _is_app_tool(tool)
    }
    best = max((fit for fit in fits.values() if fit[0] >= _MIN_SHARED_TERMS), default=None)
    text = object_phrase[1] if object_phrase else question
    return [
        (tool.name, dict.fromkeys(tool.parameters.get("required", []), text))
        for tool in tools
        if best and fits.get(tool.name) == best
    ]


def _is_app_tool(tool: ToolSpec) -> bool:
    """Tell whether no intent leads to it, and the question alone can fill what it requires."""
    properties, required = (tool.parameters.get(key, {}) for key in ("properties", "required"))
    fields = [properties.get(name, {}) for name in required]
    takes_text = all(f.get("type") == "string" and "enum" not in f for f in fields)
    return tool.name not in _CALLED_BY_INTENT and len(fields) <= 1 and takes_text
