"""Entry points of chat: questions, and what follows an answer, a silence, or the death of a process."""

from functions.chat.deps import AfterTurnDeps, ChatDeps, ClosingDeps, OpeningDeps, StretchDeps
from shared.edge.declare.entry_points import EntryPoint

_INTERNAL = "functions.chat.api.internal_routes"
_STORES = ("messages", "runs", "sessions")

ENTRY_POINTS = (
    EntryPoint(
        name="chat",
        deps=ChatDeps,
        first="functions.chat.api.first_routes:FIRST_ROUTES",
        first_deps=OpeningDeps,
        routes=(
            "functions.chat.api.asking_routes:ASKING_ROUTES",
            "functions.chat.api.routes:ROUTES",
        ),
        stores=_STORES,
        serves_pages=True,
    ),
    EntryPoint(
        name="after_turn",
        deps=AfterTurnDeps,
        routes=(f"{_INTERNAL}:AFTER_TURN_ROUTES",),
        stores=_STORES,
    ),
    EntryPoint(
        name="end_stretch",
        deps=StretchDeps,
        routes=(f"{_INTERNAL}:STRETCH_ROUTES",),
        stores=_STORES,
    ),
    EntryPoint(
        name="close_run",
        deps=ClosingDeps,
        routes=(f"{_INTERNAL}:CLOSE_RUN_ROUTES",),
        stores=_STORES,
    ),
)
