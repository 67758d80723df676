"""Entry points: `chat`, `after_turn`, `end_stretch` (a chat fell silent) and `close_run` (a process ended)."""

from functions.chat.api.internal_routes import AFTER_TURN_ROUTES, CLOSE_RUN_ROUTES, STRETCH_ROUTES
from functions.chat.api.routes import ROUTES
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


chat = serve("chat", ROUTES, _build_chat_deps, cors_origins=cors_origins)
after_turn = serve("after_turn", AFTER_TURN_ROUTES, after_turn_deps)
end_stretch = serve("end_stretch", STRETCH_ROUTES, stretch_deps)
close_run = serve("close_run", CLOSE_RUN_ROUTES, closing_deps)
