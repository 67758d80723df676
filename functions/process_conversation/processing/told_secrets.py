"""Told secrets: whether a fact tells a password, a code or the number of an account or document (told_secrets.json).

“I use plum42 as my password” has no form that a pattern could know, in whatever language.

Also called: credential detection, sensitive data detection.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from shared.retrieval.examples import ExampleTable

Telling = Literal["tells", "mentions"]
TELLS = 0.1
"""How much a fact is like those that tell a secret, from about -1 to 1, as of which it does."""
_TELLS: Sequence[Telling] = ("tells",)
_FILE = Path(__file__).with_suffix(".json")


def list_examples() -> Sequence[tuple[Telling, str]]:
    by_telling: Mapping[Telling, Sequence[str]] = json.loads(_FILE.read_text("utf-8"))
    return [(telling, text) for telling, texts in by_telling.items() for text in texts]


@cache
def load_table() -> ExampleTable[Telling]:
    return ExampleTable([telling for telling, _ in list_examples()], _FILE.with_suffix(".npz"))


def tells_secret(vector: Sequence[float]) -> bool:
    """Tell whether a fact gives a secret away, and does not merely speak of one."""
    return load_table().discern(vector, to=_TELLS) >= TELLS
