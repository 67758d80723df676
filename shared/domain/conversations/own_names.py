"""Own names: the names by which transcripts call the owner; pure."""

import re
import unicodedata
from collections.abc import Iterable

from shared.domain.words import PLAIN_LETTERS

MAX_OWN_NAMES = 20
_ACCENTS = re.compile("[\u0300-\u036f]")


def build_name_key(name: str) -> str:
    """Return the form in which two spellings of one name are equal: no case or accents, single spaces, "Weber, Alex" turned round."""
    decomposed = unicodedata.normalize("NFKD", name).casefold()
    bare = _ACCENTS.sub("", decomposed).translate(PLAIN_LETTERS)
    folded = unicodedata.normalize("NFC", bare)
    family, _, given = folded.partition(",")
    return " ".join(f"{given} {family}".split())


def deduplicate_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, as it was spelled first, without blanks around it."""
    unique: dict[str, str] = {}
    for name in names:
        unique.setdefault(build_name_key(name), " ".join(name.split()))
    return tuple(name for key, name in unique.items() if key)


def list_others(names: Iterable[str], own_names: Iterable[str]) -> list[str]:
    """Return the names that are none of the owner's."""
    own_keys = set(map(build_name_key, own_names))
    return [name for name in names if build_name_key(name) not in own_keys]
