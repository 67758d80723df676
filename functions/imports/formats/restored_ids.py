"""Ids in restored values: whatever a file names may become a part of a path; pure."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, NewType, get_args

from shared.domain import ids
from shared.domain.errors import Invalid

_ID_TYPES = tuple(kind for kind in vars(ids).values() if isinstance(kind, NewType))


def check_ids(found: Any, annotation: Any = None) -> None:
    """Raise Invalid unless every id in a value, and in the values that it holds, is one."""
    if isinstance(found, str) and found and _names_id(annotation) and not ids.is_id(found):
        raise Invalid("An id has 1 to 64 letters, digits, '-' or '_'.")
    for inner, inner_annotation in _list_parts(found, annotation):
        check_ids(inner, inner_annotation)


def _list_parts(found: Any, annotation: Any) -> Iterable[tuple[Any, Any]]:
    """Return what a value holds, each with what its field says that it is."""
    if is_dataclass(found):
        return [(getattr(found, field.name), field.type) for field in fields(found)]
    if isinstance(found, Mapping):
        return [(each, annotation) for pair in found.items() for each in pair]
    if isinstance(found, tuple | list | frozenset):
        return [(each, annotation) for each in found]
    return ()


@lru_cache(maxsize=1_000)
def _names_id(annotation: Any) -> bool:
    return annotation in _ID_TYPES or any(map(_names_id, get_args(annotation)))
