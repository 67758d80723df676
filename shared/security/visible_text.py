"""Visible text: invisible characters are stripped, so that no hidden text reaches a model."""

import re

_INVISIBLE = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_JOINERS = "([\u200c\u200d\ufe00-\ufe0f]{2})[\u200c\u200d\ufe00-\ufe0f]+"
"""Up to two in a row occur in emoji and scripts; longer rows can encode text."""


def strip_invisible(text: str) -> str:
    """Remove control characters, bidi marks and tag characters, but not line breaks and tabs.

    Joiners and the usual variation selectors stay, at most two in a row: emoji and several scripts
    need them.
    """
    return re.sub(_JOINERS, r"\1", re.sub(_INVISIBLE, "", text))
