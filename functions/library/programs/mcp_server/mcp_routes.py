"""MCP route: one message of a program with a key or a token, from an allowed origin."""

from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response

from functions.library.programs.key_access import KeyOwner, authenticate_mcp_key
from functions.library.programs.mcp_server.description import MAX_MESSAGE_BYTES
from functions.library.programs.mcp_server.scope_check import check_scope
from shared.domain.errors import NotAllowed
from shared.edge.declare.routes import Call, route
from shared.library.deps import LibraryDeps


async def authorize_client(deps: LibraryDeps, call: Call[None, Any]) -> KeyOwner:
    """Return for whom a program calls; a page of a foreign origin is refused."""
    check_origin(call.headers, deps.cors_origins)
    return await authenticate_mcp_key(deps, call.headers)


@route(
    "POST",
    "/v1/mcp",
    "Speak MCP (streamable HTTP) with the library, by a key of /v1/mcp/keys or a token",
    access="anyone",
    authorize=authorize_client,
    errors=(401, 403, 413, 429),
    max_bytes=MAX_MESSAGE_BYTES,
)
async def receive_message(deps: LibraryDeps, call: Call[bytes, None, KeyOwner]) -> Response:
    """Answer one MCP message. The router refuses other methods than POST: there are no streams."""
    check_scope(deps, call.caller, call.body)

    from functions.library.programs.mcp_server.server import McpResponse

    return McpResponse(deps, call.caller, call.body)


def check_origin(headers: Headers, allowed: tuple[str, ...]) -> None:
    """Refuse browser pages of foreign origins (DNS rebinding). Raises NotAllowed."""
    origin = headers.get("origin")
    if origin is None or origin in allowed:
        return
    if origin.partition("://")[2] != headers.get("host"):
        raise NotAllowed("This origin may not call.")


ROUTES = (receive_message,)
