"""Speaker labels: SPEAKER_00, SPEAKER_01 …, which stand for whatever a recorder called the speakers.

A recorder may send labels, names or both. Outside, a speaker is always a label with a number, as apps
parse it, and the name stands beside it.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import count

MAX_NAME_CHARS = 300
"""Who spoke stands in a map by their name, and a document takes no longer key than 1,500 bytes."""
_NUMBERED = re.compile(r"speaker[ _]?0*([0-9]{1,4})", re.IGNORECASE)
_UNNAMED = re.compile(r"speaker[ _]?[0-9]*|unknown|", re.IGNORECASE)


def number_speakers(recorded_names: Iterable[str]) -> Mapping[str, int]:
    """Return a number for each name that a recorder used, given in the order in which they speak.

    `SPEAKER_07` keeps its 7. Others get the lowest free numbers, in the order of their first words.
    """
    names = dict.fromkeys(recorded_names)
    numbers = {name: _parse_number(name) for name in names}
    taken = set(numbers.values())
    free = (number for number in count() if number not in taken)
    return {name: next(free) if number is None else number for name, number in numbers.items()}


def build_label(number: int) -> str:
    return f"SPEAKER_{number:02}"


def is_name(recorded_name: str) -> bool:
    """Tell whether a recorder's word for a speaker is a name, and not a label, nothing or a whole text."""
    return len(recorded_name) <= MAX_NAME_CHARS and _UNNAMED.fullmatch(recorded_name) is None


def _parse_number(recorded_name: str) -> int | None:
    match = _NUMBERED.fullmatch(recorded_name)
    return int(match[1]) if match else None
