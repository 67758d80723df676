"""Request bodies of deliveries."""

from typing import Literal

from shared.domain.account.notification import DigestId
from shared.domain.ids import UserId
from shared.edge.declare.schemas import Wire
from shared.library.task_reminders import ReminderKind


class DeliverIn(Wire):
    """A stored notification to deliver, or a task of which phones are to remind."""

    uid: UserId
    id: str
    kind: Literal["notification"] | ReminderKind = "notification"


class DeliverDigestIn(Wire):
    """A digest of deferred notifications to deliver."""

    uid: UserId
    id: DigestId
