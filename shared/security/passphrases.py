"""Passphrases: a row of at least four words behind a name such as "my passphrase is", none of which joins a sentence.

The words that do are data, for many languages (prose_words.json): prose has one in nearly every such row.

Also called: diceware.
"""

import json
import re
from pathlib import Path
from typing import Final

_PROSE: Final[frozenset[str]] = frozenset(
    word
    for words in json.loads(
        Path(__file__).with_name("prose_words.json").read_text("utf-8")
    ).values()
    for word in words.split()
)
_COUNTS: Final = range(4, 11)
_ROW: Final = re.compile(r"[^\W\d_]{3,20}(?:[ -][^\W\d_]{3,20}){3,}+(?![\w=:])")
_WORD: Final = re.compile(r"[^\W\d_]+")


def match_passphrase(lowered: str, start: int) -> tuple[int, int] | None:
    """Return the span of a passphrase that begins there."""
    row = _ROW.match(lowered, start)
    count, end = 0, start
    for word in _WORD.finditer(lowered, start, row.end()) if row else ():
        if word[0] in _PROSE:
            break
        count, end = count + 1, word.end()
    return (start, end) if count in _COUNTS else None
