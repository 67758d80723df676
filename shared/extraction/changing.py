"""Facts of which only one can be true at a time: where somebody lives, how old they are."""

import re

_ASPECTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("home", r"^user (?:lives in|moved to|wohnt in|lebt in|habite à|vive en|vive a|mora em)\b"),
        ("employer", r"^user (?:works (?:at|for)|arbeitet bei|travaille chez|trabaja en|lavora (?:per|da))\b"),
        ("age", r"^user (?:is|turned|ist|a|tiene|ha) \d+ (?:years old|jahre alt|ans|años|anni)\b"),
        ("birthday", r"^user(?:'s|’s) birthday is\b"),
    )
)  # fmt: skip
_FAVOURITE = re.compile(r"^user(?:'s|’s) favou?rite (\w+(?: \w+)?) (?:is|are)\b", re.IGNORECASE)


def aspect(content: str) -> str | None:
    """Name what a fact is about, where one has only one such; None for anything else."""
    if favourite := _FAVOURITE.search(content):
        return f"favourite {favourite[1].lower()}"
    return next((name for name, pattern in _ASPECTS if pattern.search(content)), None)
