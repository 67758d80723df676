"""Routes that are imported at the start serve the same requests as when all are tried in order."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from starlette.routing import compile_path

from functions.chat.api.asking_routes import ASKING_ROUTES
from functions.chat.api.first_routes import FIRST_ROUTES as FIRST_CHAT_ROUTES
from functions.chat.api.routes import ROUTES as CHAT_ROUTES
from functions.library.first_routes import FIRST_ROUTES as HOME_ROUTES
from functions.library.routes import LIBRARY_ROUTES
from functions.notifications.post_routes import ROUTES as POST_ROUTES
from functions.notifications.routes import ROUTES as NOTIFICATION_ROUTES
from functions.tool_proxy.calls.call_routes import ROUTES as CALL_ROUTES
from functions.tool_proxy.calls.service_routes import ROUTES as SERVICE_ROUTES
from shared.edge.declare.routes import Route

Rows = Sequence[Route[Any]]


def _find(rows: Rows, method: str, path: str) -> Route[Any] | None:
    """Return the row that serves a request where these are tried in order."""
    return next(
        (row for row in rows if row.method == method and compile_path(row.path)[0].match(path)),
        None,
    )


@pytest.mark.parametrize(
    ("first", "everything"),
    [
        (FIRST_CHAT_ROUTES, CHAT_ROUTES),
        ((*FIRST_CHAT_ROUTES, *ASKING_ROUTES), CHAT_ROUTES),
        (HOME_ROUTES, LIBRARY_ROUTES),
        (POST_ROUTES, NOTIFICATION_ROUTES),
        (CALL_ROUTES, SERVICE_ROUTES),
    ],
    ids=["chat opened", "chat asked", "library", "notifications", "tool calls"],
)
def test_no_early_route_takes_the_requests_of_a_late_one(first: Rows, everything: Rows) -> None:
    late = [row for row in everything if row not in first]
    paths = {row: re.sub(r"\{[^}]*\}", "x1", row.path) for row in late}

    taken = {
        f"{row.method} {row.path}": early.path
        for row, path in paths.items()
        if (early := _find(first, row.method, path)) is not None
    }

    assert taken == {}
