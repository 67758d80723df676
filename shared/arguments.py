"""Tool arguments: pydantic classes; their docstrings and field descriptions are sent to the model.

Schema validation of tool calls happens here for built-in and service tools.

Also called: tool schemas.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from shared.domain.errors import ToolRefused
from shared.domain.models.model import ToolSpec
from shared.models.schema_merging import list_alternatives, unite_objects
from shared.models.schema_repair import NOTHING, Schema
from shared.models.schemas import read_parameters

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
    schema = dict(read_json_schema(arguments_type))
    description = schema.pop("description")
    return ToolSpec(name=name, description=description, parameters=schema)


@cache
def read_json_schema(arguments_type: type[BaseModel]) -> Mapping[str, Any]:
    """Return the JSON Schema of a class, built once."""
    return arguments_type.model_json_schema()


def parse_arguments(
    name: str, arguments_type: type[ArgumentsT], arguments: Mapping[str, Any]
) -> ArgumentsT:
    """Validate what the model gave. Raises ToolRefused, which says how to correct it."""
    given = drop_absent(arguments, read_json_schema(arguments_type))
    try:
        return arguments_type.model_validate(given)
    except ValidationError as error:
        raise ToolRefused(_format_validation_error(name, error)) from error


def drop_absent(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out arguments that say nothing, in nested objects too: models fill in optional ones.

    Such are null, where a tool's parameters do not allow it, and an empty text, unless they name it:
    as a choice, or by `minLength: 0`. So is what they allow no value for. What is required stays.
    """
    return _drop_absent(arguments, read_parameters(parameters))


def _drop_absent(arguments: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Leave out what says nothing; of what is not described, nulls alone."""
    united = unite_objects(schema)
    required, properties = united["required"], united["properties"]
    is_map = isinstance(united.get("additionalProperties"), dict)
    others = {"minLength": 0} if is_map else {"type": "string", "minLength": 0}
    return {
        name: _drop_inside(argument, properties.get(name, {}))
        for name, argument in arguments.items()
        if name in required or not _is_absent(argument, properties.get(name, others))
    }


def _drop_inside(argument: Any, schema: Schema) -> Any:
    """Read as deep as a value is described."""
    described = [*list_alternatives(schema)]
    if isinstance(argument, dict) and any("properties" in branch for branch in described):
        return _drop_absent(argument, schema)
    items = [branch["items"] for branch in described if "items" in branch]
    if isinstance(argument, list) and items:
        return [_drop_inside(item, items[0]) for item in argument]
    return argument


def _is_absent(argument: Any, schema: Schema) -> bool:
    """Tell whether an optional argument says nothing."""
    if schema == NOTHING:
        return True
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
