"""Routes that an instance imports with the first request for one of them, so that it starts sooner."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared.edge.declare.routes import Route

if TYPE_CHECKING:
    from functions.notifications.deps import NotificationsDeps


def load_inbox_routes() -> Sequence["Route[NotificationsDeps]"]:
    from functions.notifications.inbox_routes import ROUTES

    return ROUTES


def load_deliver_routes() -> Sequence["Route[NotificationsDeps]"]:
    from functions.notifications.delivery_routes import DELIVER_ROUTES

    return DELIVER_ROUTES


def load_digest_routes() -> Sequence["Route[NotificationsDeps]"]:
    from functions.notifications.delivery_routes import DIGEST_ROUTES

    return DIGEST_ROUTES
