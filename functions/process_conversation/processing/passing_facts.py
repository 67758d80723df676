"""Passing facts: what a model wants remembered, and is a request, a remark or an errand of the day (passing_facts.json).

A weak model copies whatever was said: “Good, he is waiting for it.” is no fact in a year, in whatever language.

Also called: ephemeral memories, small talk filter.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from shared.retrieval.examples import ExampleTable, read_examples, read_table

Span = Literal["lasting", "passing"]
PASSES = 0.2
"""How much a fact is like those that pass, from about -1 to 1, as of which it does."""
_PASSING: Sequence[Span] = ("passing",)
_FILE = Path(__file__).with_suffix(".json")


def list_examples() -> Sequence[tuple[Span, str]]:
    return read_examples(_FILE)


@cache
def load_table() -> ExampleTable[Span]:
    return read_table(_FILE)


def is_passing(vector: Sequence[float]) -> bool:
    """Tell whether a fact says nothing that lasts."""
    return load_table().discern(vector, to=_PASSING) >= PASSES
