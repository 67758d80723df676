"""Push frequency: how many pushes of apps their owner wants in a local day, counted as they go out.

Also called: frequency capping.
"""

from datetime import UTC, datetime, time

from functions.notifications.deps import NotificationsDeps
from shared.domain.account.notification import Notification
from shared.domain.account.profile import Profile
from shared.domain.ids import UserId

_LIMIT_NAME = "app-pushes"


async def take_push(
    deps: NotificationsDeps, uid: UserId, notification: Notification, profile: Profile
) -> bool:
    """Tell whether a notification may be pushed today, and count it; a repeat counts once.

    One beyond the bound is in the inbox all the same. What is not an app's own post is not bounded.
    Raises Unavailable.
    """
    limit = profile.notifications.pushes_a_day
    if limit is None or not notification.is_app_post or notification.delivery.attempts:
        return True
    if is_unwanted(notification, profile):
        return False
    today = deps.clock.now().astimezone(profile.zone).date()
    slots_left = await deps.stores.hourly_limits.consume(
        uid,
        _LIMIT_NAME,
        hour=datetime.combine(today, time(), profile.zone).astimezone(UTC),
        limit=limit,
        consumer=notification.id,
    )
    return slots_left is not None


def is_unwanted(notification: Notification, profile: Profile) -> bool:
    """Tell whether its owner wants no pushes of apps at all."""
    return notification.is_app_post and profile.notifications.pushes_a_day == 0
