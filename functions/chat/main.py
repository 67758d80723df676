"""Entry points: `chat`, `after_turn`, `end_stretch` (a chat fell silent) and `close_run` (a process ended)."""

from functools import cache

from functions.chat.api import late_routes
from functions.chat.api.first_routes import FIRST_ROUTES
from functions.chat.deps import ChatDeps
from functions.chat.wiring import (
    after_turn_deps,
    closing_deps,
    deps,
    opening_deps,
    start,
    stretch_deps,
)
from shared.edge.declare.routes import LateRoutes
from shared.edge.serve.entry_point import serve, serve_late
from shared.edge.serve.shutdown import on_sigterm
from shared.wiring import cors_origins

start()


@cache
def _build_chat_deps() -> ChatDeps:
    """Let the runs of this process end as interrupted when the platform stops it."""
    on_sigterm(deps().active_runs.close)
    return deps()


chat = serve(
    "chat",
    FIRST_ROUTES,
    opening_deps,
    later=(
        LateRoutes(load=late_routes.load_asking_routes, build_deps=_build_chat_deps),
        LateRoutes(load=late_routes.load_routes, build_deps=_build_chat_deps),
    ),
    cors_origins=cors_origins,
)
after_turn = serve_late("after_turn", late_routes.load_after_turn_routes, after_turn_deps)
end_stretch = serve_late("end_stretch", late_routes.load_stretch_routes, stretch_deps)
close_run = serve_late("close_run", late_routes.load_closing_routes, closing_deps)
