"""Entry points: `notifications` for apps and users; tasks call the two that deliver."""

from functions.notifications.routes import DELIVER_ROUTES, DIGEST_ROUTES, ROUTES
from functions.notifications.wiring import deps, start
from shared.edge.entry_point import serve
from shared.wiring import cors_origins

start()

notifications = serve("notifications", ROUTES, deps, cors_origins=cors_origins)
deliver_notification = serve("deliver_notification", DELIVER_ROUTES, deps)
deliver_digest = serve("deliver_digest", DIGEST_ROUTES, deps)
