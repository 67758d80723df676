"""Public codes: airports, currencies, languages and the years around now, which anybody may name.

They are listed in public_codes.json, which names where each list is from. A code costs which of its list it
is, and which of the lists.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from math import inf, log2
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_suffix(".json")
_SHARES: Final[Mapping[str, float]] = {"airports": 0.5, "currencies": 0.18, "languages": 0.18}
_YEAR_SHARE: Final = 0.14
_YEARS: Final = 5
"""Before and after this one."""
_LENGTHS: Final = (2, 3)


def measure_public_code(text: str, now: datetime) -> float:
    """Return the cost of a code or a year as it is written; inf for any other text."""
    if is_near_year(text, now):
        return log2(2 * _YEARS + 1) - log2(_YEAR_SHARE)
    if len(text) not in _LENGTHS:
        return inf
    return _measure_codes().get(text, inf)


def is_near_year(text: str, now: datetime) -> bool:
    """Tell whether a text is a year around now, which is no secret whatever was read."""
    is_year = len(text) == 4 and text.isascii() and text.isdecimal()
    return is_year and abs(int(text) - now.year) <= _YEARS


@cache
def _measure_codes() -> Mapping[str, float]:
    bits: dict[str, float] = {}
    for name, content in json.loads(_FILE.read_text("utf-8")).items():
        codes = " ".join(content["codes"]).split()
        cost = log2(len(codes)) - log2(_SHARES[name])
        bits |= {code: min(cost, bits.get(code, inf)) for code in codes}
    return bits
