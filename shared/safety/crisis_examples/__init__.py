"""Examples of messages of people in a crisis, and of others that sound alike, in eight languages; written by us.

Level 0 is none, 1 asks for a gentle question, 2 is serious, 3 acute. Somebody else's crisis, fiction, quotations,
idioms and jokes are level 0.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shared.domain.chats.crisis import CrisisLevel

FOLDER = Path(__file__).parent
LANGUAGES = ("en", "de", "es", "fr", "pt", "it", "ja", "zh")
VECTORS = FOLDER / "vectors.npz"


def list_examples() -> Sequence[tuple[CrisisLevel, str]]:
    return [(each["level"], each["text"]) for each in _read_all()]


def _read_all() -> list[dict[str, Any]]:
    files = (FOLDER / f"{language}.json" for language in LANGUAGES)
    return [message for file in files for message in json.loads(file.read_text("utf-8"))]
