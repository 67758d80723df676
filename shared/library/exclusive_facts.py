"""Exclusive facts: only one of a kind can be true at a time, such as a home, an age or a favourite tea.

Facts with the same key contradict each other. The model names the key of each fact that it extracts;
texts that no model reads, because their owner or an app wrote them, are recognised in English.
"""

import re
from typing import Literal

ExclusiveKey = Literal["home", "employer", "age", "name", "birthday", "favourite"]

_MAX_FAVOURITE_CHARS = 60
_RULES: tuple[tuple[ExclusiveKey, str], ...] = (
    ("home", r"user (?:lives (?:in|at)|moved to) "),
    ("employer", r"user works (?:at|for) "),
    ("age", r"user (?:is|turned) \d+(?: years old\b|$)"),
    ("name", r"user(?:'s|’s) (?:full )?name is"),
    ("birthday", r"user(?:'s|’s) birthday is"),
    ("favourite", r"user(?:'s|’s) favou?rite (?P<of>\w+(?: \w+)?) (?:is|are)"),
)


def build_exclusive_key(key: ExclusiveKey | None, favourite_of: str | None = None) -> str | None:
    """Return the stored form: "home", "favourite tea"; None for a favourite of nothing."""
    if key != "favourite":
        return key
    name = " ".join((favourite_of or "").lower().split())[:_MAX_FAVOURITE_CHARS]
    return f"favourite {name}" if name else None


def find_exclusive_key(content: str) -> str | None:
    """Recognise an exclusive fact in English; None for any other text."""
    for key, pattern in _RULES:
        if match := re.match(pattern, content, re.IGNORECASE):
            return build_exclusive_key(key, match.groupdict().get("of"))
    return None
