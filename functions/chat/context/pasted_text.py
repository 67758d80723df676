"""Pasted text: what an owner quotes in a question, or is so long that they hardly typed it; pure."""

import re

LONG_CHARS = 1_200
"""A question as long as this is taken for pasted."""
_QUOTED_CHARS = 120
_MARKED_LINE = re.compile(r"^\s*(>|```|~~~)", re.MULTILINE)
_QUOTATION = re.compile(rf"[\"“„«「『]([^\"“”„«»「」『』]{{{_QUOTED_CHARS},}})[\"”“»」』]")


def has_pasted_text(question: str) -> bool:
    """Tell whether a question holds words that may be somebody else's."""
    return (
        len(question) >= LONG_CHARS
        or _MARKED_LINE.search(question) is not None
        or _QUOTATION.search(question) is not None
    )
