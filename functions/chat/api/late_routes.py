"""Routes that an instance imports with the first request for one of them, so that it starts sooner."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared.edge.declare.routes import Route

if TYPE_CHECKING:
    from functions.chat.deps import AfterTurnDeps, ChatDeps, ClosingDeps, StretchDeps


def load_asking_routes() -> Sequence["Route[ChatDeps]"]:
    from functions.chat.api.asking_routes import ASKING_ROUTES

    return ASKING_ROUTES


def load_routes() -> Sequence["Route[ChatDeps]"]:
    """Return every public route."""
    from functions.chat.api.routes import ROUTES

    return ROUTES


def load_after_turn_routes() -> Sequence["Route[AfterTurnDeps]"]:
    from functions.chat.api.internal_routes import AFTER_TURN_ROUTES

    return AFTER_TURN_ROUTES


def load_stretch_routes() -> Sequence["Route[StretchDeps]"]:
    from functions.chat.api.internal_routes import STRETCH_ROUTES

    return STRETCH_ROUTES


def load_closing_routes() -> Sequence["Route[ClosingDeps]"]:
    from functions.chat.api.internal_routes import CLOSE_RUN_ROUTES

    return CLOSE_RUN_ROUTES
