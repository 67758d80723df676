"""Schemas of upkeep: whose transcripts are too old, whose names changed, and which merge is final."""

from datetime import datetime

from shared.domain.ids import ConversationId, UserId
from shared.edge.declare.schemas import Wire


class RetentionIn(Wire):
    """A user whose old transcripts are to be deleted, and when they chose that."""

    uid: UserId
    set_at: datetime


class MarkOwnerIn(Wire):
    """A user who changed their own names, when, and where the next page of conversations begins."""

    uid: UserId
    set_at: datetime
    cursor: str | None = None


class RenewalIn(Wire):
    """A person whose conversations are to be read again, because they have another name."""

    uid: UserId
    subject: str


class FinishMergeIn(Wire):
    """A merge that can no longer be undone."""

    uid: UserId
    id: ConversationId


class SweepIn(Wire):
    """The body of a sweep's task; the schedule of each minute sends none."""

    wakes: bool = False
    """Whether an outage is over, so that those begin that it let wait."""
    searches: bool = False
    """Whether to look for conversations whose event was lost, of the users behind `after`."""
    walks: bool = False
    """Whether to write older due work once more, of the users behind `after`."""
    after: str | None = None
