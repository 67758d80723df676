"""Held-out messages of people in danger, and of others that sound alike, with how grave each is.

Level 0 is none, 1 asks for a gentle question, 2 is serious, 3 acute: for the writer, for somebody beside them, from
others or to others. `unseen.json` has eleven languages and was written before the examples of the product, for which its figures were
looked at once. `late.json` has two older sets in eight languages. No message is an example. All have the author of the examples, so
other people have to write the messages that judge them.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from shared.data.store.codec import type_adapter
from shared.domain.chats.crisis import CrisisLevel
from shared.domain.value import value

FOLDER = Path(__file__).parent / "crisis"
Kind = Literal[
    "crisis",
    "self-harm",
    "medical",
    "violence",
    "others",
    "child",
    "beside",
    "idiom",
    "joke",
    "fiction",
    "grief",
    "news",
    "professional",
    "ordinary",
]


@value
class GoldMessage:
    id: str
    kind: Kind
    level: CrisisLevel
    text: str

    @property
    def language(self) -> str:
        return self.id.partition("-")[0]

    @property
    def half(self) -> str:
        """The set that it belongs to."""
        return self.id.split("-")[1]


def load_messages() -> Sequence[GoldMessage]:
    adapter = type_adapter(tuple[GoldMessage, ...])
    return tuple(
        message
        for name in ("unseen.json", "late.json")
        for message in adapter.validate_python(json.loads((FOLDER / name).read_text("utf-8")))
    )
