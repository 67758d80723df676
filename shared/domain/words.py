"""Words: how they are counted, truncated and normalised.

Also called: text normalization, Unicode normalization.
"""

import re

PLAIN_LETTERS = str.maketrans(
    {"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
    | {"ँ": "ं", "\u093c": "", "ة": "ه", "ى": "ي", "ی": "ي", "ک": "ك"}
)
"""What people and models write for letters that Unicode takes not apart, or with other dots."""
MAX_WORDING_CHARS = 300
"""How much of a wording is stored: Firestore compares no more than 1,500 bytes of a text."""
_WORD = (
    "[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"  # written without spaces
    "|[^\\W_](?:[^\\s]*[^\\W_])?"
)


def count_words(text: str) -> int:
    """Count words; in scripts written without spaces every character counts."""
    return len(re.findall(_WORD, text))


def truncate_words(text: str, limit: int) -> str:
    """Shorten to the first words; what is short enough stays as it is."""
    words = text.split()
    return " ".join(words[:limit]).rstrip(",;:–-") if len(words) > limit else " ".join(words)


def normalise(text: str) -> str:
    """Return the form in which two wordings of one thing are equal: no case, no punctuation."""
    return " ".join(re.findall(r"[\w']+", text.casefold()))


def build_wording(text: str) -> str:
    """Return what a stored text is looked up by: its normal form, as far as a query compares."""
    return normalise(text)[:MAX_WORDING_CHARS]
