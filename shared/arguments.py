"""The arguments of a tool of our own: a class, whose words are what the model reads."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from shared.domain.errors import ToolRefused
from shared.domain.model import ToolSpec


def _utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("a time of the years 1 to 9999 is expected") from error


Date = Annotated[
    Annotated[AwareDatetime, AfterValidator(_utc)] | None,
    Field(description="ISO 8601 with an offset, for example 2024-01-19T15:00:00-08:00"),
]


class Arguments(BaseModel):
    """What the model is to send; an unknown field is a mistake it can mend."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


Asked = TypeVar("Asked", bound=Arguments)


@cache
def spec(name: str, asked: type[Arguments]) -> ToolSpec:
    """Describe a tool to the model by the class of its arguments."""
    schema = asked.model_json_schema()
    description = schema.pop("description")
    return ToolSpec(name=name, description=description, parameters=schema)


def checked(name: str, asked: type[Asked], arguments: Mapping[str, Any]) -> Asked:
    """Return what the model sent as a value. Raises ToolRefused, which says how to mend it."""
    try:
        return asked.model_validate(arguments)
    except ValidationError as error:
        raise ToolRefused(_mend(name, error)) from error


def _mend(name: str, error: ValidationError) -> str:
    """Tell the model what to send instead."""
    wrong = []
    for each in error.errors():
        field = ".".join(map(str, each["loc"][:1])) or "arguments"
        if each["type"].startswith(("timezone", "datetime")):
            wrong.append(
                f"{field} must include timezone and be ISO 8601 (e.g., '2024-01-19T15:00:00-08:00')"
            )
        else:
            wrong.append(f"{field}: {each['msg']}")
    return f"{name} was called wrongly. " + "; ".join(wrong) + "."
