"""Literal code: the bits that spell out a text or a number, sign by sign, by fixed tables of shares.

Both are prefix codes: behind every sign, the shares of all possible next signs and of the end sum to
at most 1 (Kraft's inequality). Costs are bits, inf beyond a limit.
"""

import string
import sys
from collections.abc import Collection, Mapping
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
CLASS_SIZES: Final = (*map(len, _SIGNS), 1, 1)
"""Signs of each class; which sign it is outside the table is counted apart, and the end is one."""
_GIVEN_SIGN, _ANY_SIGN = -log2(0.7), -log2(0.3)
_CLASS_OF: Final[Mapping[str, int]] = {
    sign: number for number, signs in enumerate(_SIGNS) for sign in signs
}
SHARES: Final = (
    # letter, capital, other Latin, digit, space, punctuation, outside, end
    (0.76, 0.010, 0.030, 0.010, 0.120, 0.015, 0.005, 0.050),  # behind a letter
    (0.56, 0.280, 0.020, 0.030, 0.040, 0.015, 0.005, 0.050),  # a capital
    (0.70, 0.020, 0.080, 0.010, 0.100, 0.030, 0.010, 0.050),  # another Latin sign
    (0.005, 0.003, 0.001, 0.900, 0.015, 0.025, 0.001, 0.050),  # a digit
    (0.46, 0.280, 0.030, 0.130, 0.001, 0.028, 0.070, 0.001),  # a space
    (0.30, 0.120, 0.020, 0.200, 0.200, 0.080, 0.030, 0.050),  # punctuation
    (0.05, 0.020, 0.020, 0.030, 0.100, 0.030, 0.600, 0.150),  # a sign outside the table
    (0.40, 0.300, 0.030, 0.150, 0.001, 0.038, 0.080, 0.001),  # at the beginning
)
_COSTS: Final = tuple(
    tuple(log2(size / share) for size, share in zip(CLASS_SIZES, row, strict=True))
    for row in SHARES
)

NUMBER_SHARES: Final[Mapping[str, float]] = {
    **dict.fromkeys(string.digits, 0.069),
    ".": 0.03,
    "-": 0.02,
    "e": 0.005,
    "+": 0.005,
    "": 0.25,  # the end
}
_NUMBER_COSTS: Final[Mapping[str, float]] = {
    sign: -log2(share) for sign, share in NUMBER_SHARES.items()
}
_LENGTH_BITS: Final = log2(pi**2 / 6)
"""Lengths n have shares of 1 / (n + 1)², whose sum is π² / 6."""


def measure_text(
    text: str,
    limit: float,
    *,
    behind: str = "",
    signs: Collection[str] = (),
    is_before_space: bool = False,
) -> float:
    """Return the cost of any text that goes on `behind` another: 5 bits a letter, and an end sign.

    A sign outside the table costs 21 bits, but one of the given `signs` only a choice among them. A
    text without spaces that is `is_before_space` ends with a space instead of the end sign.
    """
    bits = 0.0
    previous = _classify(behind[-1]) if behind else _END
    for sign in text:
        number = _classify(sign)
        bits += _COSTS[previous][number]
        bits += _measure_outside_sign(sign, signs) if number == _OUTSIDE else 0.0
        if bits > limit:
            return inf
        previous = number
    return bits + _COSTS[previous][_SPACE if is_before_space else _END]


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


def measure_choice_of_span(places: int) -> float:
    """Return the cost of a beginning and an end among `places`."""
    return log2(places * (places + 1) / 2)


def _classify(sign: str) -> int:
    return _CLASS_OF.get(sign, _OUTSIDE)


def _measure_outside_sign(sign: str, signs: Collection[str]) -> float:
    if not signs:
        return log2(_CODE_POINTS)
    return log2(len(signs)) + _GIVEN_SIGN if sign in signs else log2(_CODE_POINTS) + _ANY_SIGN


def list_outside_signs(text: str) -> frozenset[str]:
    """List the signs of a text that are outside the table."""
    return frozenset(sign for sign in frozenset(text) if _classify(sign) == _OUTSIDE)
