"""Gold set of crises: short messages of eight languages with the level of crisis of who wrote them.

Level 0 is none, 1 asks for a gentle question, 2 is serious, 3 acute. Somebody else's crisis, fiction,
quotations, idioms and jokes are level 0. A hash of the id halves the set, and rules are tuned on one half.
Messages and rules have one author, who knew both halves while writing the rules, so the held-out half says
little about other people's words. `late.json` has a second set, in other words than the first rules, which
were then widened for it; and a last set, written after that, for which no rule was changed. The first two are
the product's examples as well, so the encoder is measured on the late ones alone.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal

from shared.data.store.codec import type_adapter
from shared.domain.value import value
from shared.safety.crisis_examples import FOLDER, LANGUAGES

LATE = Path(__file__).parent / "crisis/late.json"
Kind = Literal[
    "crisis",
    "idiom",
    "third person",
    "fiction",
    "quotation",
    "joke",
    "harm reduction",
    "ordinary",
]


@value
class GoldMessage:
    id: str
    kind: Kind
    level: Literal[0, 1, 2, 3]
    text: str

    @property
    def language(self) -> str:
        return self.id.partition("-")[0]

    @property
    def half(self) -> Literal["tuned", "held out", "second", "late"]:
        if "-second-" in self.id:
            return "second"
        if "-late-" in self.id:
            return "late"
        return "held out" if sha256(self.id.encode()).digest()[0] % 2 else "tuned"


def load_messages() -> Sequence[GoldMessage]:
    """Return the messages of both halves by language, then the late ones."""
    adapter = type_adapter(tuple[GoldMessage, ...])
    return tuple(
        message
        for path in (*(FOLDER / f"{name}.json" for name in LANGUAGES), LATE)
        for message in adapter.validate_python(json.loads(path.read_text(encoding="utf-8")))
    )
