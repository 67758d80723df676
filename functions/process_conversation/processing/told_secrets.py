"""Told secrets: whether a fact tells a password, a code or the number of an account or document (told_secrets.json).

“I use plum42 as my password” has no form that a pattern could know, in whatever language.

Also called: credential detection, sensitive data detection.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from shared.retrieval.examples import ExampleTable, read_examples, read_table

Telling = Literal["tells", "mentions"]
TELLS = 0.1
"""How much a fact is like those that tell a secret, from about -1 to 1, as of which it does."""
_TELLS: Sequence[Telling] = ("tells",)
_FILE = Path(__file__).with_suffix(".json")


def list_examples() -> Sequence[tuple[Telling, str]]:
    return read_examples(_FILE)


@cache
def load_table() -> ExampleTable[Telling]:
    return read_table(_FILE)


def tells_secret(vector: Sequence[float]) -> bool:
    """Tell whether a fact gives a secret away, and does not merely speak of one."""
    return load_table().discern(vector, to=_TELLS) >= TELLS
