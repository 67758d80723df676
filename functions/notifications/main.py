"""Entry points: `notifications` for apps and users; tasks call the two that deliver."""

from functions.notifications import late_routes
from functions.notifications.post_routes import ROUTES
from functions.notifications.wiring import deps, start
from shared.edge.declare.routes import LateRoutes
from shared.edge.serve.entry_point import serve, serve_late
from shared.wiring import cors_origins

start()

notifications = serve(
    "notifications",
    ROUTES,
    deps,
    later=(LateRoutes(load=late_routes.load_inbox_routes, build_deps=deps),),
    cors_origins=cors_origins,
)
deliver_notification = serve_late("deliver_notification", late_routes.load_deliver_routes, deps)
deliver_digest = serve_late("deliver_digest", late_routes.load_digest_routes, deps)
