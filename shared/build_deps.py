"""Dependencies of entry points: each field is filled by what builds it under its name.

Also called: dependency injection, DI container.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

from shared import wiring

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
            parts = {field.name: self._build(kind, field) for field in fields(kind)}  # type: ignore[arg-type]  # a value is a dataclass
            self._built[kind] = kind(**parts)
        built: T = self._built[kind]
        return built

    def _build(self, kind: type, field: Field[Any]) -> Any:
        for source in self._list_sources(kind):
            if (build := getattr(source, field.name, None)) is not None:
                return build()
        if field.default is not MISSING:
            return field.default
        raise TypeError(f"nothing builds {field.name!r} of {kind.__name__}")

    def _list_sources(self, kind: type) -> Iterator[object]:
        yield from (self._special.get(kind), self._parts, wiring)
        from shared import model_wiring  # an entry point that asks no model loads none of it

        yield model_wiring
