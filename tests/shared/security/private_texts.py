"""The texts of private_texts.json: private values between ⟦ and ⟧, and decoys, which name nobody."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_TEXTS: Mapping[str, Sequence[str]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("utf-8")
)
DECOYS = _TEXTS["decoys"]
VALUES = {kind: texts for kind, texts in _TEXTS.items() if kind != "decoys"}
_MARKS = re.compile("[⟦⟧]")


def read_marks(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without its marks, and the spans between them."""
    places = [mark.start() - n for n, mark in enumerate(_MARKS.finditer(marked))]
    return _MARKS.sub("", marked), list(zip(places[::2], places[1::2], strict=True))


def list_values() -> Iterator[tuple[str, str, tuple[int, int]]]:
    """List the kind, the text and the span of each value."""
    for kind, texts in VALUES.items():
        for text, spans in map(read_marks, texts):
            yield from ((kind, text, span) for span in spans)
