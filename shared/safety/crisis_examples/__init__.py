"""Examples of messages of people in danger, and of others that sound alike, in fifteen languages; written by us.

Level 0 is none, 1 asks for a gentle question, 2 is serious, 3 acute: for the writer, for somebody beside them, from others
or to others. What asks for help to harm others is `harm`. Fiction, quotations, news, grief, work, idioms and jokes are level 0.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from shared.domain.chats.crisis import CrisisLevel

FOLDER = Path(__file__).parent
LANGUAGES = (
    *("en", "de", "es", "fr", "pt", "it", "ja", "zh"),
    *("ar", "pl", "tr", "nl", "ru", "hi", "ko"),
)
VECTORS = FOLDER / "vectors.npz"
CrisisLabel = CrisisLevel | Literal["harm"]


def list_examples() -> Sequence[tuple[CrisisLabel, str]]:
    return [
        ("harm" if each["kind"] == "harm" else each["level"], each["text"]) for each in _read_all()
    ]


def list_languages() -> Sequence[str]:
    """Return the language of each example, in the same order."""
    return [each["id"].partition("-")[0] for each in _read_all()]


def _read_all() -> list[dict[str, Any]]:
    files = (FOLDER / f"{language}.json" for language in LANGUAGES)
    return [message for file in files for message in json.loads(file.read_text("utf-8"))]
