"""Entry points: `chat`, `after_turn`, `end_stretch` (a chat fell silent) and `close_run` (a process ended)."""

from functions.chat.api import late_routes
from functions.chat.api.first_routes import FIRST_ROUTES
from functions.chat.deps import ChatDeps
from functions.chat.wiring import after_turn_deps, closing_deps, deps, start, stretch_deps
from shared.edge.entry_point import serve
from shared.edge.shutdown import on_sigterm
from shared.wiring import cors_origins

start()


def _build_chat_deps() -> ChatDeps:
    """Let the runs of this process end as interrupted when the platform stops it."""
    on_sigterm(deps().active_runs.close)
    return deps()


chat = serve(
    "chat",
    FIRST_ROUTES,
    _build_chat_deps,
    load_all=late_routes.load_routes,
    cors_origins=cors_origins,
)
after_turn = serve("after_turn", (), after_turn_deps, load_all=late_routes.load_after_turn_routes)
end_stretch = serve("end_stretch", (), stretch_deps, load_all=late_routes.load_stretch_routes)
close_run = serve("close_run", (), closing_deps, load_all=late_routes.load_closing_routes)
