"""Notification preferences of an owner: muted apps, quiet hours and the digest.

Also called: opt out.
"""

from shared.domain.ids import AppId
from shared.domain.value import value

PUSHES_A_DAY: tuple[int | None, ...] = (0, 2, 5, 10, 20, None)
"""By frequency, 0 to 5; the most often has no bound but the notification limit of each app."""
MAX_FREQUENCY = len(PUSHES_A_DAY) - 1


@value
class QuietHours:
    """Local times, `HH:MM`. A begin later than the end crosses midnight; equal times mean always."""

    begin: str
    end: str


@value
class Preferences:
    """Which notifications of apps are pushed; the others are in the inbox all the same.

    Pushes deferred by quiet hours come as one digest: at the end of the quiet hours or, with
    `digest_hour` (0 to 23, local), at the next such hour. Without `digest` they stay in the inbox.
    `frequency`, 0 to 5, bounds the pushes of all apps in a local day (PUSHES_A_DAY).
    """

    enabled: bool = True
    muted_apps: tuple[AppId, ...] = ()
    quiet_hours: QuietHours | None = None
    digest: bool = True
    digest_hour: int | None = None
    frequency: int = MAX_FREQUENCY

    @property
    def pushes_a_day(self) -> int | None:
        """How many pushes apps may send in a local day; None without a bound."""
        return PUSHES_A_DAY[self.frequency]

    def is_silenced(self, app_id: AppId) -> bool:
        return not self.enabled or app_id in self.muted_apps
