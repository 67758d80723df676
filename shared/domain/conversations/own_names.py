"""Own names: the names by which transcripts call the owner; pure."""

from collections.abc import Iterable

MAX_OWN_NAMES = 20


def build_name_key(name: str) -> str:
    """Return the form in which two spellings of one name are equal: no case, single spaces."""
    return " ".join(name.casefold().split())


def deduplicate_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, as it was spelled first, without blanks around it."""
    unique: dict[str, str] = {}
    for name in names:
        unique.setdefault(build_name_key(name), " ".join(name.split()))
    return tuple(name for key, name in unique.items() if key)
