"""Pronouns: the words that only their place explains, by language (pronouns.json)."""

import json
import re
from functools import lru_cache
from pathlib import Path

_PRONOUNS = frozenset(
    " ".join(json.loads(Path(__file__).with_suffix(".json").read_bytes()).values()).split()
)
_SPOKEN = re.compile(r"[^\W\d_]+(?=['’\W]|$)")
_CLITIC = re.compile(r"\b\w+[aeiáéí]r(?:me|te|se|nos|os|l[aeo]s?)+\b", re.IGNORECASE)
"""Spanish writes pronouns at the end of a verb: "enviármelo"."""


@lru_cache(maxsize=4_096)
def has_pronoun(words: str) -> bool:
    """Tell whether only their place tells whom or what some words mean."""
    spoken = (word.lower() for word in _SPOKEN.findall(words))
    return not _PRONOUNS.isdisjoint(spoken) or _CLITIC.search(words) is not None
