"""Goal: something the user wants to reach, with how far they are."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal, Self

from shared.domain.errors import Invalid
from shared.domain.ids import GoalId
from shared.domain.value import value

GoalType = Literal["boolean", "scale", "numeric"]
MAX_ACTIVE_GOALS = 4
"""Released apps show no more."""
MAX_PROGRESS_POINTS = 1_000


@value
class ProgressPoint:
    """The value that a goal reached at an instant, in UTC."""

    at: datetime
    value: float


@value
class Goal:
    """Something to reach: `current_value` moves between `min_value` and `max_value`, to the target.

    A value may lie beyond them. `unit` names what is counted, such as "books". `progress` holds the
    newest values, oldest first, one a change.
    """

    id: GoalId
    title: str
    created_at: datetime
    updated_at: datetime
    goal_type: GoalType = "scale"
    target_value: float = 10.0
    current_value: float = 0.0
    min_value: float = 0.0
    max_value: float = 10.0
    unit: str | None = None
    is_active: bool = True
    progress: tuple[ProgressPoint, ...] = ()

    def check_range(self) -> Self:
        """Return it. Raises Invalid for a range without values."""
        if self.min_value > self.max_value:
            raise Invalid("The smallest value must not lie above the largest.")
        return self

    def with_progress_since(self, before: "Goal | None") -> Self:
        """Return it with one point more if its value changed; the oldest are dropped."""
        if before is not None and before.current_value == self.current_value:
            return self
        point = ProgressPoint(at=self.updated_at, value=self.current_value)
        return replace(self, progress=(*self.progress, point)[-MAX_PROGRESS_POINTS:])

    def select_progress(self, now: datetime, *, days: int) -> tuple[ProgressPoint, ...]:
        """Return the points of the last days, oldest first."""
        start = now - timedelta(days=days)
        return tuple(point for point in self.progress if point.at > start)
