"""MCP route: one message, authenticated by a key, from an allowed origin."""

from starlette.datastructures import Headers
from starlette.responses import Response

from functions.library.programs.key_access import authenticate_mcp_key
from shared.domain.errors import NotAllowed
from shared.edge.declare.routes import Call, route
from shared.library.deps import LibraryDeps


@route(
    "POST",
    "/v1/mcp",
    "Speak MCP (streamable HTTP) with the library, by a key of /v1/mcp/keys",
    access="anyone",
    errors=(401, 403, 429),
)
async def receive_message(deps: LibraryDeps, call: Call) -> Response:
    """Answer one MCP message. The router refuses other methods than POST: there are no streams."""
    check_origin(call.headers, deps.cors_origins)
    owner = await authenticate_mcp_key(deps, call.headers)

    from functions.library.programs.mcp_server.server import McpResponse

    return McpResponse(deps, owner)


def check_origin(headers: Headers, allowed: tuple[str, ...]) -> None:
    """Refuse browser pages of foreign origins (DNS rebinding). Raises NotAllowed."""
    origin = headers.get("origin")
    if origin is None or origin in allowed:
        return
    if origin.partition("://")[2] != headers.get("host"):
        raise NotAllowed("This origin may not call.")


ROUTES = (receive_message,)
