"""Visible text: invisible characters are stripped, so that no hidden text reaches a model.

Also called: zero-width characters.
"""

import re
import unicodedata

_INVISIBLE = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_JOINER = "[\u034f\u180b-\u180f\u200c\u200d\ufe00-\ufe0f]"
_NEEDLESS_JOINERS = (
    rf"(?<=[\x00-\xa8\xaa-\xad\xaf-\u033f\u0370-\u0590])(?:(?!\ufe0f\u20e3){_JOINER})+"
)
"""Behind Latin, Greek and Cyrillic letters: each could encode a byte that nobody sees. An emoji of a
digit needs its own."""
_MORE_JOINERS = f"({_JOINER}{{2}}){_JOINER}+"
"""Up to two in a row occur in emoji and scripts; longer rows can encode text."""
MAX_MARKS = 4
"""Combining marks in a row in a name: more reach over the lines above and below it, and no script's names need them."""


def strip_invisible(text: str) -> str:
    """Remove control characters, bidi marks and tag characters, but not line breaks and tabs.

    Joiners and the usual variation selectors stay behind signs that may need them, at most two in a
    row: emoji and several scripts do.
    """
    text = re.sub(_NEEDLESS_JOINERS, "", re.sub(_INVISIBLE, "", text))
    return re.sub(_MORE_JOINERS, r"\1", text)


def write_name(text: str) -> str:
    """Write what somebody else calls themselves as one line of what can be seen, with few marks upon each other."""
    marks = 0
    kept = []
    for sign in " ".join(strip_invisible(text).split()):
        marks = marks + 1 if unicodedata.category(sign) in ("Mn", "Me") else 0
        kept += [sign] if marks <= MAX_MARKS else []
    return "".join(kept)
