"""Examples of messages of people in a crisis, and of others that sound alike, in eight languages; written by us.

Level 0 is none, 1 asks for a gentle question, 2 is serious, 3 acute. Somebody else's crisis, fiction, quotations,
idioms and jokes are level 0.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from shared.domain.chats.crisis import CrisisLevel
from shared.retrieval.examples import ExampleTable

FOLDER = Path(__file__).parent
LANGUAGES = ("en", "de", "es", "fr", "pt", "it", "ja", "zh")
SERIOUS_LEVEL = 2


def list_examples() -> Sequence[tuple[CrisisLevel, str]]:
    return [(each["level"], each["text"]) for each in _read_all()]


@cache
def load_table() -> ExampleTable[CrisisLevel]:
    return ExampleTable([level for level, _ in list_examples()], FOLDER / "vectors.npz")


def measure_danger(vector: Sequence[float]) -> float:
    """Return the share of serious crises among the examples nearest to a message."""
    weights = load_table().weigh(vector)
    return sum(share for level, share in weights.items() if level >= SERIOUS_LEVEL)


def _read_all() -> list[dict[str, Any]]:
    files = (FOLDER / f"{language}.json" for language in LANGUAGES)
    return [message for file in files for message in json.loads(file.read_text("utf-8"))]
