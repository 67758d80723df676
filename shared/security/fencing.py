"""Fencing of untrusted text: what others wrote is marked as data, never as instructions.

A defence against prompt injection.

Also called: spotlighting, delimiters.
"""

import json
import re
import string
import unicodedata
from functools import lru_cache
from html import escape

from shared.domain.provenance import Source
from shared.security.visible_text import strip_invisible

_FENCE_TAG = re.compile(r"<(?=[^\w<]{0,8}data)", re.IGNORECASE)
"""Whatever signs stand between: a reader takes many for the stroke of an end."""
_SHAPES = {
    "<": "‹❮˂𝈶ᐸᚲ〈⟨❬❰⦑⧼≺⋖",
    "/": "ノ丿〳Ⳇ",
    "d": "ԁɖᏧᑯꓒᎠᗞᗪꓓ",
    "a": "аɑα⍺ᴀꭺꓮАΑᎪᗅ𖽀𐊠",
    "t": "тτᴛꭲꓔТΤᎢⲦ⊤⟙🝨𖼊𑢼𐊗𐊱𐌕",
}
"""Signs that look like those of a tag: the confusables of UTS 39 that normalising leaves, and more angle brackets."""
_LETTERS = str.maketrans({alike: sign for sign, shapes in _SHAPES.items() for alike in shapes})
_ANY_BRACKET = re.compile(f"[<＜﹤≮⊀\u2329\ufe3f{_SHAPES['<']}]")
_UNSEEN = frozenset({"Cc", "Cf", "Mn", "Me"})
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are empty to see."""


def fence_untrusted(text: str, source: Source) -> str:
    """Wrap `text` in a data fence that names its source; nothing in the text can close the fence.

    A tag counts as a reader sees it: without format characters and accents, and with full-width letters and look-alikes as plain ones.
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
    seen = [*map(_see, text)]
    places = [place for place, signs in enumerate(seen) for _ in signs]
    brackets = {places[tag.start()] for tag in _FENCE_TAG.finditer("".join(seen))}
    if not brackets:
        return text
    return "".join("[" if place in brackets else sign for place, sign in enumerate(text))


@lru_cache(4_096)
def _see(sign: str) -> str:
    """Return what is seen of a sign beside others: letters and brackets without accents, and nothing of some."""
    if sign in _BLANK:
        return ""
    parts = unicodedata.normalize("NFKD", sign)
    return "".join(each for each in parts if _is_seen(each)).translate(_LETTERS)


def _is_seen(sign: str) -> bool:
    return sign in string.whitespace or unicodedata.category(sign) not in _UNSEEN
