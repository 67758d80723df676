"""Codec: domain values to document fields and back; the only module that knows both.

Also called: serializer, deserialization, object mapper.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from shared.domain.store.documents import Document

T = TypeVar("T")
MAX_ITEMS = 20_000
"""Segments of the longest transcript; a client may write a list of a million empty maps."""
MAX_SHOWN_ERRORS = 5
_CONTAINERS = (dict, list, tuple)
_ESCAPE = "."
"""Before a key that documents do not take, such as an empty one or `__this__`: a recorder may call a speaker so."""


class MalformedDocument(ValueError):
    """A stored document does not fit its type; clients write some documents themselves."""


type_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""Return the validator of a type, built once."""


def dump(value: object) -> dict[str, Any]:
    """Return the fields of a domain value: tuples become lists, times stay times."""
    return _dump(value, left_out=set())


def dump_sparse(value: object) -> dict[str, Any]:
    """Return the fields of a domain value that differ from their defaults, by which `load` reads what is missing."""
    kind: Any = type(value)
    defaults = _find_defaults(kind)
    return _dump(value, left_out={name for name, held in defaults if getattr(value, name) == held})


@cache
def _find_defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    made = [(each.name, each.default_factory) for each in fields(kind)]
    return (
        *((each.name, each.default) for each in fields(kind) if each.default is not MISSING),
        *((name, make()) for name, make in made if make is not MISSING),
    )


def _dump(value: object, *, left_out: set[str]) -> dict[str, Any]:
    dumped: dict[str, Any] = type_adapter(type(value)).dump_python(value, exclude=left_out)
    return {
        name: _to_plain(_escape_keys(field)) if isinstance(field, _CONTAINERS) else field
        for name, field in dumped.items()
    }


def _escape_keys(field: Any) -> Any:
    """Return a field with keys that a document takes, where it is a map."""
    if not isinstance(field, dict) or not any(map(_is_escaped, field)):
        return field
    return {f"{_ESCAPE}{key}" if _is_escaped(key) else key: field[key] for key in field}


def _is_escaped(key: object) -> bool:
    return isinstance(key, str) and (not key or key.startswith(("__", _ESCAPE)))


def _restore_keys(field: dict[str, Any]) -> dict[str, Any]:
    if _ESCAPE not in "".join(field):
        return field
    return {key.removeprefix(_ESCAPE): inner for key, inner in field.items()}


def _to_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _to_plain(field) for name, field in value.items()}
    if isinstance(value, _CONTAINERS):
        return [_to_plain(item) for item in value]
    return value


def load(kind: type[T], document: Document) -> T:
    """Return the domain value of a document; its path names its id. Raises MalformedDocument."""
    stored = dict(document.fields.items())
    for name, field in stored.items():
        if type(field) not in _CONTAINERS:  # as most are: this costs no call
            continue
        if isinstance(field, dict):
            stored[name] = _restore_keys(field)
        elif not is_bounded(field):
            raise MalformedDocument(
                f"{kind.__name__} at {document.path!r}: more than {MAX_ITEMS} items"
            )
    stored["id"] = document.id
    try:
        value: T = type_adapter(kind).validate_python(stored)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)[:MAX_SHOWN_ERRORS]
        locations = ", ".join(".".join(map(str, e["loc"])) for e in errors)
        # The cause would carry the document's content into the log.
        raise MalformedDocument(f"{kind.__name__} at {document.path!r}: {locations}") from None
    return value


def is_bounded(value: object) -> bool:
    """Tell whether a stored value can be validated in little time and memory."""
    return not isinstance(value, list) or len(value) <= MAX_ITEMS


def load_all(kind: type[T], documents: Iterable[Document | None]) -> list[T]:
    """Load what exists and can be loaded: a malformed document must not hide the rest of a list."""
    values = []
    for document in filter(None, documents):
        with suppress(MalformedDocument):
            values.append(load(kind, document))
    return values
