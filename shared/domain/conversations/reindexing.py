"""Reindexing of all users: the rows of each are built anew, so that all follow one index scheme."""

from datetime import datetime, timedelta
from typing import Literal

from shared.domain.ids import UserId
from shared.domain.value import value

ABANDONED_AFTER = timedelta(minutes=15)
"""Longer than the task of a page is repeated without a pause; then another run takes over."""
Part = Literal["conversations", "memories", "files"]
PARTS: tuple[Part, ...] = ("conversations", "memories", "files")


@value
class Reindexing:
    """A run over all users, page by page: `page` is the next one, and `cursor` where it begins.

    `attempt` names who lists them: a run that was abandoned goes on under another name.

    `scheme` is what rows are built by. So many users are begun in a second. `is_listed` says that
    every user has a task, or needs none.
    """

    attempt: str
    scheme: str
    users_per_second: float
    advanced_at: datetime
    page: int = 0
    cursor: str | None = None
    is_listed: bool = False

    def is_abandoned(self, now: datetime) -> bool:
        return not self.is_listed and now >= self.advanced_at + ABANDONED_AFTER


@value
class ReindexStep:
    """A page of one kind of a user's data."""

    attempt: str
    uid: UserId
    part: Part = PARTS[0]
    cursor: str | None = None

    def find_next(self, cursor: str | None) -> "ReindexStep | None":
        """Return the step after this one, whose next page begins at `cursor`; None at the end."""
        if cursor is not None:
            return ReindexStep(attempt=self.attempt, uid=self.uid, part=self.part, cursor=cursor)
        later = PARTS[PARTS.index(self.part) + 1 :]
        return ReindexStep(attempt=self.attempt, uid=self.uid, part=later[0]) if later else None


@value
class ReindexProgress:
    """Users whose rows follow the scheme, and users whose task is not done yet."""

    done: int
    pending: int
    is_listed: bool

    @property
    def is_done(self) -> bool:
        return self.is_listed and not self.pending
