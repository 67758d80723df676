"""Live listener: an app, or a user's own server, that was sent what was said while it was said."""

from datetime import datetime

from shared.domain.ids import AppId
from shared.domain.value import value


@value
class LiveListener:
    """How much it was sent in all, and when last; `app_id` is OWN_WEBHOOK for the user's own server.

    At `notified_at` a notification was last written for it.
    """

    app_id: AppId
    last_at: datetime
    lines: int = 0
    sound_s: int = 0
    notified_at: datetime | None = None
