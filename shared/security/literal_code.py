"""Literal code: the bits that spell out a text or a number, sign by sign, by fixed tables of shares.

Both are prefix codes: behind every sign, the shares of all possible next signs and of the end sum to
at most 1 (Kraft's inequality). Costs are bits, inf beyond a limit.
"""

import string
import sys
from collections.abc import Iterator, Mapping
from math import inf, log2, pi
from typing import Final

_CODE_POINTS: Final = sys.maxunicode + 1
_OTHER_LATIN: Final = "".join(map(chr, range(0xC0, 0x180)))
_PUNCTUATION: Final = string.punctuation + "–—‘’“”„…€£§°"

_LETTER, _CAPITAL, _LATIN, _DIGIT, _SPACE, _PUNCT, _OUTSIDE, _END = range(8)
_SIGNS: Final = (
    string.ascii_lowercase,
    string.ascii_uppercase,
    _OTHER_LATIN,
    string.digits,
    " ",
    _PUNCTUATION,
)
CLASS_SIZES: Final = (*map(len, _SIGNS), _CODE_POINTS, 1)
"""Signs of each class; a sign outside the table is any code point, and the end is one sign."""
_CLASS_OF: Final[Mapping[str, int]] = {
    sign: number for number, signs in enumerate(_SIGNS) for sign in signs
}
SHARES: Final = (
    # letter, capital, other Latin, digit, space, punctuation, outside, end
    (0.76, 0.010, 0.030, 0.010, 0.120, 0.015, 0.005, 0.050),  # behind a letter
    (0.60, 0.250, 0.030, 0.030, 0.040, 0.015, 0.005, 0.030),  # a capital
    (0.70, 0.020, 0.080, 0.010, 0.100, 0.030, 0.010, 0.050),  # another Latin sign
    (0.005, 0.003, 0.001, 0.900, 0.015, 0.025, 0.001, 0.050),  # a digit
    (0.55, 0.220, 0.030, 0.140, 0.001, 0.028, 0.030, 0.001),  # a space
    (0.30, 0.120, 0.020, 0.200, 0.200, 0.080, 0.030, 0.050),  # punctuation
    (0.05, 0.020, 0.020, 0.030, 0.100, 0.030, 0.600, 0.150),  # a sign outside the table
    (0.50, 0.220, 0.030, 0.160, 0.001, 0.048, 0.040, 0.001),  # at the beginning
)
_COSTS: Final = tuple(
    tuple(log2(size / share) for size, share in zip(CLASS_SIZES, row, strict=True))
    for row in SHARES
)

NUMBER_SHARES: Final[Mapping[str, float]] = {
    **dict.fromkeys(string.digits, 0.08),
    ".": 0.04,
    "-": 0.03,
    "e": 0.005,
    "+": 0.005,
    "": 0.12,  # the end
}
_NUMBER_COSTS: Final[Mapping[str, float]] = {
    sign: -log2(share) for sign, share in NUMBER_SHARES.items()
}
_LENGTH_BITS: Final = log2(pi**2 / 6)
"""Lengths n have shares of 1 / (n + 1)², whose sum is π² / 6."""


def measure_text(text: str, limit: float) -> float:
    """Return the cost of any text: 5 bits a letter, 21 a sign outside the table, an end sign."""
    bits = 0.0
    previous = _END
    for number in _classify(text):
        bits += _COSTS[previous][number]
        if bits > limit:
            return inf
        previous = number
    return bits


def measure_number(spelling: str, limit: float) -> float:
    """Return the cost of a JSON number as it is spelled."""
    bits = _NUMBER_COSTS[""]
    for sign in spelling:
        bits += _NUMBER_COSTS[sign]
        if bits > limit:
            return inf
    return bits


def measure_length(length: int) -> float:
    """Return the cost of a length from 0: 2·log2(length + 1) and what makes all of them sum to 1."""
    return 2 * log2(length + 1) + _LENGTH_BITS


def _classify(text: str) -> Iterator[int]:
    for sign in text:
        yield _CLASS_OF.get(sign, _OUTSIDE)
    yield _END
