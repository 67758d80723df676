"""Schema of a task of a reindexing."""

from shared.domain.conversations.reindexing import PARTS, Part
from shared.domain.ids import UserId
from shared.edge.declare.schemas import Wire


class ReindexIn(Wire):
    """A page of users; with `uid` a step of that user, which begins at `cursor`."""

    attempt: str
    page: int = 0
    uid: UserId | None = None
    part: Part = PARTS[0]
    cursor: str | None = None
