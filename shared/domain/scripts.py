"""Scripts: in which letters a text is written, as far as that tells languages apart; pure.

Also called: language detection.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping

MAX_CHARS = 500
_EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA"})
_SCRIPT_BY_LANGUAGE: Mapping[str, str] = {
    **dict.fromkeys(("ru", "uk", "bg", "be", "mk", "kk", "ky", "mn"), "CYRILLIC"),
    **dict.fromkeys(("ar", "fa", "ur", "ps"), "ARABIC"),
    **dict.fromkeys(("he", "yi"), "HEBREW"),
    **dict.fromkeys(("hi", "mr", "ne"), "DEVANAGARI"),
    **dict.fromkeys(("ja", "zh"), "CJK"),
    "el": "GREEK",
    "ko": "HANGUL",
    "th": "THAI",
    "ka": "GEORGIAN",
    "hy": "ARMENIAN",
    "bn": "BENGALI",
    "ta": "TAMIL",
    "te": "TELUGU",
    "am": "ETHIOPIC",
    "sr": "",
}
"""All others are written in Latin letters; Serbian in both."""


def find_script(text: str) -> str:
    """Name the script of most letters; Chinese and Japanese count as one, no letters as none."""
    letters = (character for character in text[:MAX_CHARS] if character.isalpha())
    counts = Counter(_name_script(letter) for letter in letters)
    return max(counts, key=counts.__getitem__, default="")


def find_script_of_language(language: str) -> str:
    """Name the script in which a language (ISO 639-1) is written; empty where there are two."""
    return _SCRIPT_BY_LANGUAGE.get(language.partition("-")[0].lower(), "LATIN")


def _name_script(letter: str) -> str:
    name = unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]
    return "CJK" if name in _EAST_ASIAN else name
