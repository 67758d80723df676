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
from shared.models.absent_arguments import drop_absent

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
