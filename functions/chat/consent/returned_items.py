"""Returned items: what an id in a call stands for, by what its tool's maker returned earlier; pure."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_NAMES = ("title", "name", "summary", "subject", "description", "text", "content")
"""Fields that say what an item is, the most telling first."""


def find_item(item_id: str, returned: Iterable[str]) -> Mapping[str, Any] | None:
    """Return the one object that has a field of this value, as it was returned last; None where there is none."""
    for text in returned:
        for item in _list_objects(_parse(text)):
            if item_id in item.values() and get_name(item):
                return item
    return None


def get_name(item: Mapping[str, Any]) -> str:
    names = (item.get(field) for field in _NAMES)
    return next((name for name in names if isinstance(name, str) and name.strip()), "")


def _parse(text: str) -> Any:
    try:
        return json.loads(text) if text.lstrip().startswith(("{", "[")) else None
    except (ValueError, RecursionError):
        return None


def _list_objects(root: Any) -> Iterator[Mapping[str, Any]]:
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if isinstance(node, Mapping):
            yield node
        if isinstance(node, Mapping | list):
            nodes += node.values() if isinstance(node, Mapping) else node
