"""Schema validation of tool calls: arguments against the JSON Schema that an app declared."""

from collections.abc import Mapping
from functools import cache
from typing import Any


def validate_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """Return what the model should repair, or None.

    A stranger's `pattern` is shown to the model but not run: it could hang us.
    """
    from jsonschema.exceptions import best_match

    errors = _build_validator()(schema).iter_errors(arguments)
    error = best_match(errors)  # type: ignore[no-untyped-call]  # the package has no types
    return None if error is None else f"{error.json_path}: {error.message}"[:500]


@cache
def _build_validator() -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    no_pattern = {"pattern": lambda *_: ()}
    return extend(Draft202012Validator, no_pattern)  # type: ignore[no-untyped-call]  # as above
