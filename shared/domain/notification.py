"""What an app tells a user outside a chat."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import NewType

from shared.domain.ids import AppId
from shared.domain.value import value

NotificationId = NewType("NotificationId", str)


@value
class Notification:
    """One notification; its id is the id of the chat message it was stored as, where there is one.

    `body` is whole. `data` is what a push carries beside it, all strings. It stands in the inbox
    from `delivered_at` on.
    """

    id: NotificationId
    app_id: AppId
    title: str
    body: str
    created_at: datetime
    data: Mapping[str, str] = field(default_factory=dict)
    delivered_at: datetime | None = None
    read: bool = False
