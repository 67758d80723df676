"""Denials: whether words say that something is not so, or no more, by our examples in many languages (denials.json).

“I quit” denies without any word for no, as “I used to” does.

Also called: negation detection, polarity.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from shared.retrieval.examples import ExampleTable, read_examples, read_table

Polarity = Literal["denies", "affirms"]
_DENIES: Sequence[Polarity] = ("denies",)
_AFFIRMS: Sequence[Polarity] = ("affirms",)
_FILE = Path(__file__).with_suffix(".json")


def list_examples() -> Sequence[tuple[Polarity, str]]:
    return read_examples(_FILE)


@cache
def load_table() -> ExampleTable[Polarity]:
    return read_table(_FILE)


def measure_denial(vector: Sequence[float]) -> float:
    """Return how much words lean to those that deny, from 0 to 1."""
    return load_table().lean(vector, to=_DENIES, against=_AFFIRMS)
