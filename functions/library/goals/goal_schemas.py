"""Schemas of goals: request and response bodies, with the fields that released apps read."""

from typing import Annotated

from pydantic import Field, StringConstraints

from shared.domain.tasks.goal import GoalType
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import ClientId, Utc

MAX_AMOUNT = 1e12
MAX_TITLE_CHARS = 200

Amount = Annotated[float, Field(ge=-MAX_AMOUNT, le=MAX_AMOUNT)]
GoalTitle = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TITLE_CHARS),
]
Unit = Annotated[str, StringConstraints(strip_whitespace=True, max_length=40)]


class GoalIn(Wire):
    """A new goal. The same one may be sent again."""

    id: ClientId | None = None
    title: GoalTitle
    goal_type: GoalType = "scale"
    target_value: Amount = 10.0
    current_value: Amount = 0.0
    min_value: Amount = 0.0
    max_value: Amount = 10.0
    unit: Unit | None = None


class GoalChangeIn(Wire):
    """Omitted fields keep their value; `unit: null` removes it."""

    title: GoalTitle | None = None
    goal_type: GoalType | None = None
    target_value: Amount | None = None
    current_value: Amount | None = None
    min_value: Amount | None = None
    max_value: Amount | None = None
    unit: Unit | None = None
    is_active: bool | None = None


class ProgressQuery(Wire):
    current_value: Amount


class HistoryQuery(Wire):
    days: Annotated[int, Field(ge=1, le=3_650)] = 30


class GoalOut(Wire):
    id: str
    title: str
    goal_type: str
    target_value: float
    current_value: float
    min_value: float
    max_value: float
    unit: str | None
    is_active: bool
    created_at: Utc
    updated_at: Utc


class ProgressPointOut(Wire):
    at: Utc
    value: float


class GoalSuggestionOut(Wire):
    suggested_title: str
    suggested_type: GoalType
    suggested_target: float
    suggested_min: float
    suggested_max: float
    reasoning: str


class GoalAdviceOut(Wire):
    advice: str
