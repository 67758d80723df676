"""Values: a faster `@dataclass(frozen=True, slots=True)`, at a twentieth of its cost.

The standard decorator compiles up to six methods for each class, and a cold start defines some hundred
classes: half of the framework's own import time. Here a class gets its slots and methods that all values
share. Its fields are worked out, by the standard decorator, when its first value is made, and its
`__init__` is compiled for the second one; most classes of a process never get that far. A value is a
real dataclass: `fields`, `replace`, `asdict`, pattern matching and pydantic accept it.

Also called: value object, immutable dataclass.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from inspect import get_annotations
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)


class _LazyFields:
    """The fields of a value, worked out when they are first asked for."""

    def __init__(self, template: type, *, by_name: bool) -> None:
        self._template = template
        self._by_name = by_name

    def __set_name__(self, owner: Any, name: str) -> None:
        self._owner = owner

    def __get__(self, _: object, __: type | None = None) -> Mapping[str, Field[Any]]:
        # The decorator changes what it decorates, so each of several threads decorates a copy.
        copy: Any = _define_again(self._template)
        # Without a docstring, it spells out the signature, at twice its own cost.
        copy.__doc__ = copy.__doc__ or copy.__name__
        decorate = dataclass(init=False, repr=False, eq=False, kw_only=self._by_name)
        found: Mapping[str, Field[Any]] = decorate(copy).__dataclass_fields__
        self._owner.__dataclass_fields__ = found
        return found


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def value(cls: Class) -> Class:
    """Make a frozen class with slots whose fields are given by name."""
    result: Class = _define(cls, by_name=True)
    return result


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def positional_value(cls: Class) -> Class:
    """Make a value whose fields may be given by position, too."""
    result: Class = _define(cls, by_name=False)
    return result


def _define(cls: Any, *, by_name: bool) -> Any:
    """Define the class again, with slots in the place of its annotated names."""
    names = tuple(get_annotations(cls))
    inherited = {slot for base in cls.__mro__[1:] for slot in base.__dict__.get("__slots__", ())}
    positional = () if by_name else (*getattr(cls, "__match_args__", ()), *names)
    defined = _define_again(
        cls,
        left_out=names,
        __slots__=tuple(name for name in names if name not in inherited),
        __match_args__=tuple(dict.fromkeys(positional)),
        __dataclass_fields__=_LazyFields(cls, by_name=by_name),
        **_SHARED,
    )
    defined.__init__ = _build_lazy_init(defined, by_name=by_name)
    return defined


def _define_again(cls: Any, *, left_out: Sequence[str] = (), **added: Any) -> Any:
    names = cls.__dict__.keys() - {*left_out, "__dict__", "__weakref__"}
    namespace = {name: cls.__dict__[name] for name in names}
    return type(cls)(cls.__name__, cls.__bases__, namespace | added)


def _build_lazy_init(cls: Any, *, by_name: bool) -> Any:
    """Return an `__init__` that fills one value field by field, and is compiled for the next.

    Many classes have one value in a process, and to compile costs more than to fill a hundred fields.
    """

    def fill_one(self: Any, *values: Any, **named_values: Any) -> None:
        cls.__init__ = compile_and_fill
        complete_values = _add_defaults(fields(cls), named_values)
        if values or complete_values.keys() != cls.__dataclass_fields__.keys():
            compile_and_fill(self, *values, **named_values)
            return
        for name, field_value in complete_values.items():
            object.__setattr__(self, name, field_value)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()

    def compile_and_fill(self: Any, *values: Any, **named_values: Any) -> None:
        compiled = _compile_init(
            fields(cls), by_name=by_name, has_post_init=hasattr(cls, "__post_init__")
        )
        cls.__init__ = compiled
        compiled(self, *values, **named_values)

    return fill_one


def _add_defaults(
    all_fields: Iterable[Field[Any]], named_values: Mapping[str, Any]
) -> dict[str, Any]:
    missing = [each for each in all_fields if each.name not in named_values]
    defaults = {each.name: each.default for each in missing if each.default is not MISSING}
    made = {
        each.name: each.default_factory() for each in missing if each.default_factory is not MISSING
    }
    return {**defaults, **made, **named_values}


def _compile_init(init_fields: Iterable[Field[Any]], *, by_name: bool, has_post_init: bool) -> Any:
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    parameters = ["*"] if by_name and init_fields else []
    body = []
    for init_field in init_fields:
        parameter, expression = _build_parameter(init_field, names)
        parameters.append(parameter)
        body.append(f"_set(self, {init_field.name!r}, {expression})")
    if has_post_init:
        body.append("self.__post_init__()")
    source = f"def __init__(self, {', '.join(parameters)}): {'; '.join(body) or 'pass'}"
    exec(source, names)  # noqa: S102 - field names of our own classes
    return names["__init__"]


def _build_parameter(init_field: Field[Any], names: dict[str, Any]) -> tuple[str, str]:
    """Build a field's parameter and its assignment; defaults go into `names`."""
    name, default = init_field.name, f"_default_{init_field.name}"
    if init_field.default is not MISSING:
        names[default] = init_field.default
        return f"{name}={default}", name
    if init_field.default_factory is not MISSING:
        names[default] = init_field.default_factory
        return f"{name}=_missing", f"{default}() if {name} is _missing else {name}"
    return name, name


def _list_field_values(instance: Any) -> tuple[Any, ...]:
    return tuple(getattr(instance, name) for name in instance.__dataclass_fields__)


def _repr(self: Any) -> str:
    field_texts = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
    return f"{type(self).__qualname__}({field_texts})"


def _eq(self: Any, other: object) -> Any:
    return (
        _list_field_values(self) == _list_field_values(other)
        if other.__class__ is self.__class__
        else NotImplemented
    )


def _hash(self: Any) -> int:
    return hash(_list_field_values(self))


def _raise_frozen(_self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r}")


def _restore(self: Any, state: tuple[None, dict[str, Any]]) -> None:
    """Restore a copied or pickled value; nothing else sets a field."""
    for name, field_value in state[1].items():
        object.__setattr__(self, name, field_value)


@dataclass(init=False, repr=False, eq=False)
class _Sample:
    """Its parameters are those of every value."""


_SHARED: Mapping[str, Any] = {
    "__dataclass_params__": _Sample.__dataclass_params__,  # type: ignore[attr-defined]  # the standard library's own
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _raise_frozen,
    "__delattr__": _raise_frozen,
    "__setstate__": _restore,
}
