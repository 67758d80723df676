"""Dependencies of entry points: each field is filled by what builds it under its name."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

from shared import model_wiring, wiring

T = TypeVar("T")


class DepsBuilder:
    """Builds the dependencies of a function's entry points, each class once per process.

    A field is built by what has its name in the parts of its class (`special`), in `parts`, which this
    function alone has, or in the wiring that all share.
    """

    def __init__(
        self, parts: type | None = None, *, special: Mapping[type, type] | None = None
    ) -> None:
        self._parts = parts
        self._special = special or {}
        self._built: dict[type, Any] = {}

    def __call__(self, kind: type[T]) -> T:
        """Return the dependencies of a class. Raises TypeError for a field that nothing builds."""
        if kind not in self._built:
            sources = (self._special.get(kind), self._parts, wiring, model_wiring)
            parts = {field.name: _build(kind, field, sources) for field in fields(kind)}  # type: ignore[arg-type]  # a value is a dataclass
            self._built[kind] = kind(**parts)
        built: T = self._built[kind]
        return built


def _build(kind: type, field: Field[Any], sources: tuple[object, ...]) -> Any:
    for source in sources:
        if (build := getattr(source, field.name, None)) is not None:
            return build()
    if field.default is not MISSING:
        return field.default
    raise TypeError(f"nothing builds {field.name!r} of {kind.__name__}")
