"""Fencing of untrusted text: what others wrote is marked as data, never as instructions.

A defence against prompt injection.

Also called: spotlighting, delimiters.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from html import escape

from shared.domain.provenance import Source
from shared.security.visible_text import strip_invisible

_FENCE_TAG = re.compile(r"<(?=[^\w<]{0,8}data)", re.IGNORECASE)
"""Whatever signs stand between: a reader takes many for the stroke of an end."""
_ANY_BRACKET = re.compile("[<＜﹤]")
_LETTERS = str.maketrans(
    {
        alike: letter
        for letter, shapes in {"d": "ԁɖᏧᑯꓒ", "a": "аɑαᴀꭺꓮАΑᎪᗅ", "t": "тτᴛꭲꓔТΤᎢ"}.items()
        for alike in shapes
    }
)
"""Letters of other alphabets that look like those of a tag (UTS 39)."""
_UNSEEN = frozenset({"Cc", "Cf", "Mn", "Me"})
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are empty to see."""


def fence_untrusted(text: str, source: Source) -> str:
    """Wrap `text` in a data fence that names its source; nothing in the text can close the fence.

    A tag counts as a reader sees it: without format characters, and with full-width letters and look-alikes as plain ones.
    """
    source_label = escape(_disarm(" ".join(strip_invisible(str(source)).split())))
    return f'<data from="{source_label}">\n{_disarm(text)}\n</data>'


def quote_untrusted(text: str) -> str:
    """Quote a name or a title inside a line of ours: on one line, in marks that nothing in it can close."""
    return json.dumps(" ".join(strip_invisible(text).split()), ensure_ascii=False)


def _disarm(text: str) -> str:
    """Replace the brackets of what reads as a tag of ours; the rest stays as it is."""
    if not _ANY_BRACKET.search(text):
        return text
    seen, places = [], []
    for place, signs in _read_seen(text):
        seen.append(signs)
        places += [place] * len(signs)
    brackets = {places[tag.start()] for tag in _FENCE_TAG.finditer("".join(seen))}
    if not brackets:
        return text
    return "".join("‹" if place in brackets else sign for place, sign in enumerate(text))


def _read_seen(text: str) -> Iterator[tuple[int, str]]:
    """Yield what is seen of each character, with its place."""
    for place, sign in enumerate(text):
        if sign.isascii():
            if sign.isprintable() or sign.isspace():
                yield place, sign
        elif sign not in _BLANK and unicodedata.category(sign) not in _UNSEEN:
            yield place, unicodedata.normalize("NFKC", sign).translate(_LETTERS)
