"""Tool arguments: pydantic classes; their docstrings and field descriptions are sent to the model.

Schema validation of tool calls happens here for built-in and service tools.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from shared.domain.errors import ToolRefused
from shared.domain.model import ToolSpec
from shared.models.schema_merging import list_alternatives, unite_objects
from shared.models.schema_repair import Schema, repair_parameters

TIME_FORM = "ISO 8601 with date, time and offset from UTC"
"""The form in words: small models give a time that they read as an example."""


def _to_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("a time of the years 1 to 9999 is expected") from error


Date = Annotated[
    Annotated[AwareDatetime, AfterValidator(_to_utc)] | None,
    Field(description=TIME_FORM),
]


class Arguments(BaseModel):
    """The arguments of one tool; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


@cache
def build_tool_spec(name: str, arguments_type: type[Arguments]) -> ToolSpec:
    """Build a tool's description for the model from the class of its arguments."""
    schema = arguments_type.model_json_schema()
    description = schema.pop("description")
    return ToolSpec(name=name, description=description, parameters=schema)


def parse_arguments(
    name: str, arguments_type: type[ArgumentsT], arguments: Mapping[str, Any]
) -> ArgumentsT:
    """Validate what the model gave. Raises ToolRefused, which says how to correct it."""
    given = _drop_absent(arguments, _read_schema(arguments_type))
    try:
        return arguments_type.model_validate(given)
    except ValidationError as error:
        raise ToolRefused(_format_validation_error(name, error)) from error


@cache
def _read_schema(arguments_type: type[BaseModel]) -> Schema:
    return repair_parameters(arguments_type.model_json_schema())


def drop_absent(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out arguments that say nothing, in nested objects too: models fill in optional ones.

    Such are null, where a tool's parameters do not allow it, and an empty text, unless they name it: as a
    choice, or by `minLength: 0`. What is required stays, whatever it is.
    """
    return _drop_absent(arguments, repair_parameters(parameters))


def _drop_absent(arguments: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    united = unite_objects(schema)
    return {
        name: _drop_inside(argument, united["properties"].get(name, {}))
        for name, argument in arguments.items()
        if name in united["required"]
        or name not in united["properties"]
        or not _is_absent(argument, united["properties"][name])
    }


def _drop_inside(argument: Any, schema: Schema) -> Any:
    if isinstance(argument, dict):
        return _drop_absent(argument, schema)
    if isinstance(argument, list):
        return [_drop_inside(item, schema.get("items", {})) for item in argument]
    return argument


def _is_absent(argument: Any, schema: Schema) -> bool:
    """Tell whether an optional argument says nothing."""
    if argument is None:
        return not any(map(_takes_null, list_alternatives(schema)))
    return argument == "" and not any(map(_names_empty_text, list_alternatives(schema)))


def _takes_null(schema: Schema) -> bool:
    return None in schema.get("enum", [None]) and "null" in schema.get("type", "null")


def _names_empty_text(schema: Schema) -> bool:
    return "" in schema.get("enum", ()) or schema.get("minLength") == 0


def _format_validation_error(name: str, error: ValidationError) -> str:
    """Format what is wrong, for the model to correct."""
    problems = []
    for detail in error.errors():
        field = ".".join(map(str, detail["loc"][:1])) or "arguments"
        if detail["type"].startswith(("timezone", "datetime")):
            problems.append(f"{field} must include timezone and be {TIME_FORM}")
        else:
            problems.append(f"{field}: {detail['msg']}")
    return f"{name} was called wrongly. " + "; ".join(problems) + "."
