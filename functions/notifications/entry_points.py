"""Entry points of notifications: posts and the inbox; tasks call the two that deliver."""

from functions.notifications.deps import NotificationsDeps
from shared.edge.declare.entry_points import EntryPoint

_STORES = ("apps", "hourly_limits", "inbox", "operations")

ENTRY_POINTS = (
    EntryPoint(
        name="notifications",
        deps=NotificationsDeps,
        first="functions.notifications.post_routes:ROUTES",
        routes=("functions.notifications.inbox_routes:ROUTES",),
        stores=_STORES,
        serves_pages=True,
    ),
    EntryPoint(
        name="deliver_notification",
        deps=NotificationsDeps,
        routes=("functions.notifications.delivery_routes:DELIVER_ROUTES",),
        stores=_STORES,
    ),
    EntryPoint(
        name="deliver_digest",
        deps=NotificationsDeps,
        routes=("functions.notifications.delivery_routes:DIGEST_ROUTES",),
        stores=_STORES,
    ),
)
