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


def list_others(names: Iterable[str], own_names: Iterable[str]) -> list[str]:
    """Return the names that are none of the owner's."""
    own_keys = set(map(build_name_key, own_names))
    return [name for name in names if build_name_key(name) not in own_keys]
