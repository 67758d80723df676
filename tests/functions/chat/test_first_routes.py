"""Routes that are imported at the start serve the same requests as when all are tried in order."""

import re
from collections.abc import Sequence

from starlette.routing import compile_path

from functions.chat.api.first_routes import FIRST_ROUTES
from functions.chat.api.late_routes import load_routes
from functions.chat.deps import ChatDeps
from shared.edge.routes import Route


def _find(rows: Sequence[Route[ChatDeps]], method: str, path: str) -> Route[ChatDeps] | None:
    """Return the row that serves a request where these are tried in order."""
    return next(
        (row for row in rows if row.method == method and compile_path(row.path)[0].match(path)),
        None,
    )


def test_no_early_route_takes_the_requests_of_a_late_one() -> None:
    late = [row for row in load_routes() if row not in FIRST_ROUTES]
    paths = {row: re.sub(r"\{[^}]*\}", "x1", row.path) for row in late}

    taken = {
        f"{row.method} {row.path}": early.path
        for row, path in paths.items()
        if (early := _find([*FIRST_ROUTES], row.method, path)) is not None
    }

    assert taken == {}
