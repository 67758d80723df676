"""Refusals: why the library does not take an item of a file, and how the item is called; pure."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from shared.domain.errors import Invalid, TooLarge

CONVERSATION_KINDS = ("conversation", "recording", "restored")
MAX_TITLE_CHARS = 80
MAX_REASON_CHARS = 300
REFUSALS = (ValueError, TypeError, KeyError, AttributeError, OverflowError, Invalid, TooLarge)
"""What an item raises that is not in its form, or that no document holds."""


def describe_refusal(error: Exception) -> str:
    """Say in one line why an item is not taken."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    else:
        reason = str(error) or "it is not in the form of an export"
    return reason[:MAX_REASON_CHARS]


def name_item(kind: str, item: Mapping[str, Any]) -> str:
    """Return the title of a conversation; what has none is named by its kind and id."""
    titled = item.get("structured") or item.get("edits")
    title = titled.get("title") if isinstance(titled, dict) else None
    named = "" if kind in CONVERSATION_KINDS else kind
    return str(title or f"{named} {item.get('id', '')}".strip())[:MAX_TITLE_CHARS]
