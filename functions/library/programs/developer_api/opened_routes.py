"""Routes of the owner that a developer key opens as they are: folders and daily summaries."""

from dataclasses import replace
from typing import Any

from functions.library.folders import folders
from functions.library.programs.key_access import KeyOwner, authorize_developer_key
from functions.library.programs.route_calls import call_route
from shared.domain.account.api_key import DeveloperScope
from shared.edge.declare.entry_points import load_routes
from shared.edge.declare.routes import Call, Route
from shared.library.deps import LibraryDeps


def _open(row: Route[LibraryDeps], path: str, scope: DeveloperScope) -> Route[LibraryDeps]:
    """Return the route at another path, for whoever has a key with this scope."""

    async def handle(deps: LibraryDeps, call: Call[None, Any, KeyOwner]) -> Any:
        query = dict(call.query) if call.query else None
        return await call_route(deps, call.caller.uid, row, path=call.path, query=query)

    return replace(
        row,
        path=path,
        summary=f"{row.summary}, by a developer key",
        access="anyone",
        authorize=authorize_developer_key(scope),
        handler=handle,
        errors=(*row.errors, 401, 403, 429),
    )


_SUMMARIES = {
    row.path: row
    for row in load_routes("functions.process_conversation.days.summary_routes:ROUTES")
    if row.method == "GET"
}

ROUTES = (
    _open(folders.list_folders, "/v1/dev/user/folders", "conversations:read"),
    *(
        _open(_SUMMARIES[f"/v1/users/{path}"], f"/v1/dev/user/{path}", "conversations:read")
        for path in ("daily-summaries", "daily-summaries/{summary_id}")
    ),
)
