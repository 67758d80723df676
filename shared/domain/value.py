"""Values: what `@dataclass(frozen=True, slots=True)` promises, made in a third of the time.

The standard decorator compiles up to six methods for each class, and a cold start makes some hundred
classes: half of what the framework itself takes to load. Here `__init__` alone is compiled, when the
first value is made, which most classes of a process never see; the other methods are the same for
all. A value is a real dataclass: `fields`, `replace`, `asdict`, pattern matching and pydantic take it
as one.
"""

from collections.abc import Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def value(made: Class) -> Class:
    """Make a frozen class with slots whose fields are given by name."""
    slotted: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=True)(made)
    whole: Class = _completed(slotted, by_name=True)
    return whole


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def positional_value(made: Class) -> Class:
    """Make a value whose fields may be given by position, too."""
    slotted: Any = dataclass(init=False, repr=False, eq=False, slots=True)(made)
    whole: Class = _completed(slotted, by_name=False)
    return whole


def _completed(made: Any, *, by_name: bool) -> Any:
    made.__init__ = _uncompiled(made, by_name=by_name)
    made.__repr__ = _repr
    made.__eq__ = _eq
    made.__hash__ = _hash
    made.__setattr__ = made.__delattr__ = _refuse
    made.__setstate__ = _restore
    return made


def _uncompiled(made: Any, *, by_name: bool) -> Any:
    def compile_and_fill(self: Any, *values: Any, **named: Any) -> None:
        compiled = _init(fields(made), by_name=by_name, then=hasattr(made, "__post_init__"))
        made.__init__ = compiled
        compiled(self, *values, **named)

    return compile_and_fill


def _init(wanted: Iterable[Field[Any]], *, by_name: bool, then: bool) -> Any:
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    parameters = ["*"] if by_name and wanted else []
    body = []
    for each in wanted:
        parameter, given = _taken(each, names)
        parameters.append(parameter)
        body.append(f"_set(self, {each.name!r}, {given})")
    if then:
        body.append("self.__post_init__()")
    source = f"def __init__(self, {', '.join(parameters)}): {'; '.join(body) or 'pass'}"
    exec(source, names)  # noqa: S102 - field names of our own classes
    return names["__init__"]


def _taken(each: Field[Any], names: dict[str, Any]) -> tuple[str, str]:
    """Write a field's parameter, and what is kept of it; defaults go into `names`."""
    name, default = each.name, f"_default_{each.name}"
    if each.default is not MISSING:
        names[default] = each.default
        return f"{name}={default}", name
    if each.default_factory is not MISSING:
        names[default] = each.default_factory
        return f"{name}=_missing", f"{default}() if {name} is _missing else {name}"
    return name, name


def _kept(one: Any) -> tuple[Any, ...]:
    return tuple(getattr(one, name) for name in one.__dataclass_fields__)


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: object) -> Any:
    return _kept(self) == _kept(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_kept(self))


def _refuse(_self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r}")


def _restore(self: Any, state: tuple[None, dict[str, Any]]) -> None:
    """Let copies and pickles be filled; nothing else sets a field."""
    for name, kept in state[1].items():
        object.__setattr__(self, name, kept)
