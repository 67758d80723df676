"""What we ask the model for: loose enough that one odd value never costs the whole answer."""

import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from shared.domain.conversation import CATEGORIES

DEFAULT_EVENT_MINUTES = 30.0


def _normalise_category(category: object) -> str:
    name = str(category).strip().lower()
    return name if name in CATEGORIES else "other"


def _parse_minutes(value: object) -> float:
    """Take what is no finite number of minutes as not said."""
    try:
        minutes = float(value)  # type: ignore[arg-type]  # whatever it is
    except (TypeError, ValueError, OverflowError):
        return DEFAULT_EVENT_MINUTES
    return minutes if math.isfinite(minutes) else DEFAULT_EVENT_MINUTES


def _to_list(value: object) -> object:
    return [] if value is None else value


Category = Annotated[
    str, BeforeValidator(_normalise_category), Field(json_schema_extra={"enum": list(CATEGORIES)})
]
Names = Annotated[Sequence[str], BeforeValidator(_to_list)]


class ProcessingOutput(BaseModel):
    """The base of every answer; what we did not ask for is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class DiscardOutput(ProcessingOutput):
    """Whether the recording holds nothing worth keeping."""

    discard: bool


class ActionItemOutput(ProcessingOutput):
    """Something to do; `due_at` in ISO 8601, or null."""

    description: str
    due_at: str | None = None


class EventOutput(ProcessingOutput):
    """Something that will take place; `start` in ISO 8601, `duration` in minutes."""

    title: str
    start: str
    description: str = ""
    duration: Annotated[float, BeforeValidator(_parse_minutes)] = DEFAULT_EVENT_MINUTES


class StructureOutput(ProcessingOutput):
    """Everything that one reading of the transcript tells about it."""

    title: str
    overview: str
    emoji: str = ""
    category: Category = "other"
    action_items: Annotated[Sequence[ActionItemOutput], BeforeValidator(_to_list)] = ()
    events: Annotated[Sequence[EventOutput], BeforeValidator(_to_list)] = ()
    people: Names = ()
    topics: Names = ()
    entities: Names = ()
    dates: Names = ()


class MemoryOutput(ProcessingOutput):
    """A fact with its proof: `evidence` is copied from segment number `segment`.

    `replaces` is the number of the existing memory that it makes untrue, or null.
    """

    content: str
    category: str
    segment: int
    evidence: str
    replaces: int | None = None


class MemoriesOutput(ProcessingOutput):
    """At most two facts of each category; mostly none."""

    memories: Annotated[Sequence[MemoryOutput], BeforeValidator(_to_list)] = ()
