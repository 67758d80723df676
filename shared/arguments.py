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


def _to_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("a time of the years 1 to 9999 is expected") from error


Date = Annotated[
    Annotated[AwareDatetime, AfterValidator(_to_utc)] | None,
    Field(description="ISO 8601 with an offset, for example 2024-01-19T15:00:00-08:00"),
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
    """Validate what the model sent. Raises ToolRefused, which says how to correct it."""
    try:
        return arguments_type.model_validate(arguments)
    except ValidationError as error:
        raise ToolRefused(_format_validation_error(name, error)) from error


def _format_validation_error(name: str, error: ValidationError) -> str:
    """Format what is wrong, for the model to correct."""
    problems = []
    for detail in error.errors():
        field = ".".join(map(str, detail["loc"][:1])) or "arguments"
        if detail["type"].startswith(("timezone", "datetime")):
            problems.append(
                f"{field} must include timezone and be ISO 8601 (e.g., '2024-01-19T15:00:00-08:00')"
            )
        else:
            problems.append(f"{field}: {detail['msg']}")
    return f"{name} was called wrongly. " + "; ".join(problems) + "."
