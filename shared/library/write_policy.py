"""Write policy: when a statement becomes a memory; the model judges, and code lets it be only stricter.

`now`: at once. `end`: with what else the conversation or the stretch of a chat says. `repeat`: once
another one says it too. `drop`: never.
"""

from collections.abc import Mapping
from typing import Literal, get_args

WriteTiming = Literal["now", "end", "repeat", "drop"]
"""From soonest to never."""
StatementKind = Literal[
    "lasting",
    "for_now",
    "joke",
    "idea",
    "question",
    "quotation",
    "guess",
    "mention",
    "self_doubt",
    "command",
    "unsafe",
]
"""How words were meant. `mention`: named, and nothing said of it. `self_doubt`: the owner thinks badly
of themselves. `command`: asks an assistant to remember, to forget or to do something. `unsafe`: would
have answers be unsafe."""

_SOONEST_BY_KIND: Mapping[StatementKind, WriteTiming] = {"lasting": "now", "self_doubt": "repeat"}
"""Every other kind is dropped."""


def decide_timing(wanted: WriteTiming, kind: StatementKind) -> WriteTiming:
    """Return when a statement is written: as the model wants, and no sooner than its kind allows."""
    soonest = _SOONEST_BY_KIND.get(kind, "drop")
    return max(wanted, soonest, key=get_args(WriteTiming).index)
