"""JSON Schemas of strangers: validation whose work is bounded, whatever schema and values say.

A schema can ask for work that is a product, of its keywords and the values, or worse. So each
evaluation of a keyword takes steps, and validation ends when they are used up. What could take more
than its steps is replaced: `uniqueItems` compares in linear time; a `pattern` is
not run; references are written out before (`shared/models/schema_repair.py`).

Also called: JSON Schema validation.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from typing import Any

MAX_STEPS = 20_000
"""For the arguments of a call; used up, they took about 0.2 s."""
_MESSAGE_CHARS_A_STEP = 200
_SKIPPED_KEYWORDS = ("pattern", "patternProperties", "unevaluatedItems", "unevaluatedProperties")

Keyword = Callable[[Any, Any, Any, Mapping[str, Any]], Iterator[Any] | None]
_steps_left: ContextVar[list[int]] = ContextVar("steps_left")


class TooManySteps(ValueError):
    """The values are too many for what the schema wants to know of them."""


def find_violation(schema: Mapping[str, Any], content: Any, *, max_steps: int = MAX_STEPS) -> Any:
    """Return the most telling violation, a ValidationError of jsonschema, or None.

    Raises TooManySteps. The schema is valid, has no references and names no dialect, as
    `read_parameters` leaves it.
    """
    return _find_best(load_validator()(schema), content, max_steps)


def _find_best(validator: Any, content: Any, max_steps: int) -> Any:
    from jsonschema.exceptions import best_match

    token = _steps_left.set([max_steps])
    try:
        return best_match(validator.iter_errors(content))  # type: ignore[no-untyped-call]  # the package has no types
    finally:
        _steps_left.reset(token)


def _spend(steps: int) -> None:
    left = _steps_left.get()
    left[0] -= steps
    if left[0] < 0:
        raise TooManySteps("The values are too many to check.")


@cache
def load_validator() -> Any:
    """Load the type of validators, once, and take the tenth of a second that its package needs."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    keywords = {**Draft202012Validator.VALIDATORS, "uniqueItems": _check_unique_items}
    keywords |= dict.fromkeys(_SKIPPED_KEYWORDS, _skip)
    metered = {name: _meter(name, keyword) for name, keyword in keywords.items()}
    return extend(Draft202012Validator, metered)  # type: ignore[no-untyped-call]  # as above


def _meter(name: str, keyword: Keyword) -> Keyword:
    """Make a keyword take steps: for its own parts, for the value's, and for what it says."""

    def check(
        validator: Any, declared: Any, content: Any, schema: Mapping[str, Any]
    ) -> Iterator[Any]:
        _spend(1 + _count_steps(name, declared, content))
        for error in keyword(validator, declared, content, schema) or ():
            _spend(len(error.message) // _MESSAGE_CHARS_A_STEP)
            yield error

    return check


def _count_steps(name: str, declared: Any, content: Any) -> int:
    if name in ("enum", "const"):
        return _count_values(declared)
    if name == "uniqueItems":
        return _count_values(content)
    return sum(len(part) for part in (declared, content) if isinstance(part, dict | list))


def _count_values(content: Any) -> int:
    if isinstance(content, dict):
        return 1 + sum(map(_count_values, content.values()))
    return 1 + sum(map(_count_values, content)) if isinstance(content, list) else 1


def _check_unique_items(
    validator: Any, declared: Any, content: Any, _: Mapping[str, Any]
) -> Iterator[Any]:
    from jsonschema import ValidationError

    if declared and validator.is_type(content, "array"):
        texts = {json.dumps(_normalise(item), sort_keys=True) for item in content}
        if len(texts) < len(content):
            yield ValidationError(f"{content!r} has non-unique elements")


def _normalise(content: Any) -> Any:
    """Write numbers that JSON Schema calls equal in one way: 1.0 is 1."""
    if isinstance(content, dict):
        return {name: _normalise(part) for name, part in content.items()}
    if isinstance(content, list):
        return [_normalise(part) for part in content]
    return int(content) if isinstance(content, float) and content.is_integer() else content


def _skip(*_: Any) -> Iterator[Any]:
    return iter(())
