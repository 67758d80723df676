"""Text: visible characters and a token estimate."""

import re

_INVISIBLE = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_JOINERS = "([\u200c\u200d\ufe00-\ufe0f]{2})[\u200c\u200d\ufe00-\ufe0f]+"
"""Two in a row stand in emoji; a row of them spells something."""


def strip_invisible(text: str) -> str:
    """Remove what a reader cannot see and a model would read: controls, bidi marks, tag characters.

    Joiners and the usual variation selectors stay, but no rows of them: emoji and several scripts
    need them.
    """
    return re.sub(_JOINERS, r"\1", re.sub(_INVISIBLE, "", text))


def estimate_tokens(text: str) -> int:
    """Estimate tokens at 4 characters each; exact tables are too heavy for a cold start."""
    return len(text) // 4 + 1
