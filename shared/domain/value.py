"""Values: a faster `@dataclass(frozen=True, slots=True)`, at a third of its cost.

The standard decorator compiles up to six methods for each class, and a cold start defines some hundred
classes: half of the framework's own import time. Here only `__init__` is compiled, when the first value
of a class is made, which most classes of a process never reach; the other methods are shared. A value is a
real dataclass: `fields`, `replace`, `asdict`, pattern matching and pydantic accept it.
"""

from collections.abc import Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def value(cls: Class) -> Class:
    """Make a frozen class with slots whose fields are given by name."""
    _skip_signature(cls)
    slotted: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=True)(cls)
    result: Class = _add_methods(slotted, by_name=True)
    return result


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def positional_value(cls: Class) -> Class:
    """Make a value whose fields may be given by position, too."""
    _skip_signature(cls)
    slotted: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    result: Class = _add_methods(slotted, by_name=False)
    return result


def _skip_signature(cls: Any) -> None:
    """Give a class without a docstring its name, or `dataclass` spells out its signature, at twice its own cost."""
    cls.__doc__ = cls.__doc__ or cls.__name__


def _add_methods(cls: Any, *, by_name: bool) -> Any:
    cls.__init__ = _build_lazy_init(cls, by_name=by_name)
    cls.__repr__ = _repr
    cls.__eq__ = _eq
    cls.__hash__ = _hash
    cls.__setattr__ = cls.__delattr__ = _raise_frozen
    cls.__setstate__ = _restore
    return cls


def _build_lazy_init(cls: Any, *, by_name: bool) -> Any:
    def compile_and_fill(self: Any, *values: Any, **named_values: Any) -> None:
        compiled = _compile_init(
            fields(cls), by_name=by_name, has_post_init=hasattr(cls, "__post_init__")
        )
        cls.__init__ = compiled
        compiled(self, *values, **named_values)

    return compile_and_fill


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
