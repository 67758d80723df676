"""Copying deriver: arguments from the words of a message and nothing else, as no model is needed for."""

import re
from collections.abc import Mapping
from typing import Any

from shared.domain.models.model import ToolSpec

_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<=\w )[^\W\d_a-z][\w'-]*")
"""A capital within a sentence."""


def copy_arguments(message: str, spec: ToolSpec) -> Mapping[str, Any] | None:
    """Fill what a tool requires, else its first text, with words of the message; None where they do not fit."""
    properties = spec.parameters.get("properties", {})
    required = spec.parameters.get("required") or _find_first_text(properties)
    names = iter(_NAME.findall(message))
    texts = [name for name in required if _is_text(properties[name])]
    copied = {
        name: next(names, None)
        if len(texts) > 1 and name in texts
        else _copy(message, properties[name])
        for name in required
    }
    return copied if copied and None not in copied.values() else None


def _find_first_text(properties: Mapping[str, Any]) -> list[str]:
    return [name for name, place in properties.items() if _is_text(place)][:1]


def _is_text(place: Mapping[str, Any]) -> bool:
    kinds = [place, *place.get("anyOf", ())]
    return any(kind.get("type") == "string" for kind in kinds) and not any(
        kind.keys() & {"enum", "format", "const"} for kind in kinds
    )


def _copy(message: str, place: Mapping[str, Any]) -> Any:
    if _is_text(place):
        return message
    if place.get("type") in ("integer", "number"):
        found = _NUMBER.search(message)
        return int(found[0]) if found else None
    return next((c for c in place.get("enum", ()) if str(c).casefold() in message.casefold()), None)
