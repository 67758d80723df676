"""Tool data: what a tool of an app or a service returned, as text or as JSON; untrusted.

Who reads it decides how it is written: a model, the API, or the screen of its owner.
"""

import json
from collections.abc import Collection, Iterable
from typing import Any, Literal

from shared.domain.value import value

EmbedType = Literal[
    "tool_result", "record", "website", "place", "event", "code", "sheet", "image", "document"
]
"""How a client draws it: `tool_result` is any result or a parent, `record` any entry of a list."""

MAX_DEPTH = 32
"""Levels of lists and objects; what nests deeper is text."""


@value
class ToolData:
    """What a tool returned. `content` is a text, or an object or a list of JSON.

    `entry_type` is how clients draw it, or each entry of its list, where the tool says so.
    `hidden_fields` are fields, at any depth, that clients are shown and models are not given.
    `shown_text` says it in words for people, where the tool has some.
    """

    content: Any
    entry_type: EmbedType | None = None
    hidden_fields: tuple[str, ...] = ()
    shown_text: str = ""

    @property
    def visible_content(self) -> Any:
        """What models are given of it."""
        return omit_fields(self.content, self.hidden_fields)

    @property
    def visible_text(self) -> str:
        """What models are given of it, as text or compact JSON."""
        content = self.visible_content
        return content if isinstance(content, str) else to_compact_json(content)


def to_compact_json(content: Any) -> str:
    """Encode as JSON without spaces."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def is_deep(content: Any) -> bool:
    """Tell whether lists and objects nest in more than MAX_DEPTH levels."""
    level = _select_nested([content])
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            for child in _select_nested(node.values() if isinstance(node, dict) else node)
        ]
    return bool(level)


def _select_nested(nodes: Iterable[Any]) -> list[Any]:
    return [node for node in nodes if isinstance(node, dict | list)]


def omit_fields(content: Any, names: Collection[str]) -> Any:
    """Return content without the fields of these names, at any depth."""
    if not names:
        return content
    if isinstance(content, dict):
        kept = {name: each for name, each in content.items() if name not in names}
        return {name: omit_fields(each, names) for name, each in kept.items()}
    if isinstance(content, list):
        return [omit_fields(each, names) for each in content]
    return content
