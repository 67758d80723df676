"""What we ask the model for: loose enough that one odd value never costs the whole answer."""

import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from shared.domain.conversation import CATEGORIES

USUAL_MINUTES = 30.0


def _known(category: object) -> str:
    name = str(category).strip().lower()
    return name if name in CATEGORIES else "other"


def _minutes(value: object) -> float:
    """Take what is no finite number of minutes as not said."""
    try:
        minutes = float(value)  # type: ignore[arg-type]  # whatever it is
    except (TypeError, ValueError, OverflowError):
        return USUAL_MINUTES
    return minutes if math.isfinite(minutes) else USUAL_MINUTES


def _list(value: object) -> object:
    return [] if value is None else value


Category = Annotated[
    str, BeforeValidator(_known), Field(json_schema_extra={"enum": list(CATEGORIES)})
]
Names = Annotated[Sequence[str], BeforeValidator(_list)]


class Answer(BaseModel):
    """The base of every answer; what we did not ask for is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class DiscardAnswer(Answer):
    """Whether the recording holds nothing worth keeping."""

    discard: bool


class ActionItemAnswer(Answer):
    """Something to do; `due_at` in ISO 8601, or null."""

    description: str
    due_at: str | None = None


class EventAnswer(Answer):
    """Something that will take place; `start` in ISO 8601, `duration` in minutes."""

    title: str
    start: str
    description: str = ""
    duration: Annotated[float, BeforeValidator(_minutes)] = USUAL_MINUTES


class StructureAnswer(Answer):
    """Everything that one reading of the transcript tells about it."""

    title: str
    overview: str
    emoji: str = ""
    category: Category = "other"
    action_items: Annotated[Sequence[ActionItemAnswer], BeforeValidator(_list)] = ()
    events: Annotated[Sequence[EventAnswer], BeforeValidator(_list)] = ()
    people: Names = ()
    topics: Names = ()
    entities: Names = ()
    dates: Names = ()


class MemoryAnswer(Answer):
    """A fact with its proof: `evidence` is copied from segment number `segment`.

    `replaces` is the number of the existing memory that it makes untrue, or null.
    """

    content: str
    category: str
    segment: int
    evidence: str
    replaces: int | None = None


class MemoriesAnswer(Answer):
    """At most two facts of each category; mostly none."""

    memories: Annotated[Sequence[MemoryAnswer], BeforeValidator(_list)] = ()
