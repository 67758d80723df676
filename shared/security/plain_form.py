"""The plain form of a text, in which patterns look for private data, and the way back to the text.

Signs of all scripts that look or count alike are one: full-width digits, every space, every dash, letters of
other scripts in a Latin word, O and l in a number. Format characters are left out. Letters of scripts that write
no spaces end a word.

Also called: canonicalization, Unicode normalization.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence

from shared.domain.value import positional_value

WORD_END = "\0"
"""Stands for a letter of a script without spaces: patterns take it for no part of a word or number."""
_FORMAT = re.compile(
    "[\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
"""Those of emoji as well, such as the frame of a key."""
_SPACELESS = re.compile(
    "[\u0e00-\u0e4f\u0e80-\u0ecf\u1000-\u103f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3040-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U000323af]"
)

_LATIN = str.maketrans(
    "авекмнорстухіјѕѵһԁԛԝАВЕЗКМНОРСТУХІЈЅԌԚԜαβικνορτυχϲΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aBekMHopcTyxijsvhdqwABE3KMHOPCTYXIJSGQWaBiKvoptuxcABEZHIKMNOPTYX",
)
"""Letters of other scripts that are taken for Latin ones in a word with Latin letters or digits."""
_ALIKE = "".join(map(chr, _LATIN))
_MIXED = re.compile(rf"(?<!\w)\w*(?:[A-Za-z0-9][{_ALIKE}]|[{_ALIKE}][A-Za-z0-9])\w*")
_DIGITS = str.maketrans("OoIl", "0011")
_DIGIT_BESIDE_LETTER = re.compile(r"[OoIl](?:(?<=[0-9].)|(?=[0-9]))")
_NUMBER = re.compile(
    r"(?<!\w)(?=[0-9OoIl ._/+-]{7})[0-9OoIl]++(?:[ ._/-]{1,2}[0-9OoIl]++){0,20}+(?!\w)"
)


@positional_value
class PlainForm:
    """`words` is `text` with WORD_END for letters of scripts without spaces; both have one length."""

    text: str
    words: str
    offsets: Sequence[int] | None

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span of the plain form stands in the text itself."""
        if self.offsets is None:
            return start, end
        return self.offsets[start], self.offsets[end - 1] + 1


class _Folds(dict[int, str]):
    """One sign for each, so that places stay; worked out when it is first met."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        super().__init__({code: chr(code) for code in range(128)})
        self._fold = fold

    def __missing__(self, code: int) -> str:
        fold = self[code] = self._fold(chr(code))
        return fold


def read_plain(text: str) -> PlainForm:
    if text.isascii():
        text = _read_letters_in_numbers(text)
        return PlainForm(text, text, None)
    offsets = None
    if _FORMAT.search(text):
        offsets = [place for place, sign in enumerate(text) if not _FORMAT.match(sign)]
        text = _FORMAT.sub("", text)
    plain = _MIXED.sub(_read_latin, text.translate(_FOLDS))
    plain = _read_letters_in_numbers(plain)
    return PlainForm(plain, plain.translate(_WORD_FOLDS), offsets)


def _read_latin(mixed: re.Match[str]) -> str:
    latin = mixed[0].translate(_LATIN)
    return latin if latin.isascii() else mixed[0]


def _read_letters_in_numbers(text: str) -> str:
    return _NUMBER.sub(_read_digits, text) if _DIGIT_BESIDE_LETTER.search(text) else text


def _read_digits(number: re.Match[str]) -> str:
    is_mixed = _DIGIT_BESIDE_LETTER.search(number[0])
    return number[0].translate(_DIGITS) if is_mixed else number[0]


def _fold(sign: str) -> str:
    category = unicodedata.category(sign)
    if category == "Nd":
        return str(unicodedata.decimal(sign))
    if category in {"Zs", "Pd"} or sign == "\u2212":
        return " " if category == "Zs" else "-"
    if sign == "İ":
        return "I"  # its small letter is two
    if sign in "。｡":
        return "."
    folded = unicodedata.normalize("NFKC", sign)
    return folded if len(folded) == 1 else sign


_FOLDS = _Folds(_fold)
_WORD_FOLDS = _Folds(lambda sign: WORD_END if _SPACELESS.match(sign) else sign)
