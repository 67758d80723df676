"""MCP route: one message, authenticated by a key, from an allowed origin."""

from starlette.datastructures import Headers
from starlette.responses import Response

from functions.process_conversation.deps import LibraryDeps
from shared import telemetry
from shared.domain.errors import NotAllowed
from shared.edge.requests import parse_bearer_token
from shared.edge.routes import Call, route


@route(
    "POST",
    "/v1/mcp",
    "Speak MCP (streamable HTTP) with the library, by a key of /v1/mcp/keys",
    access="anyone",
    errors=(401, 403, 429),
)
async def receive_message(deps: LibraryDeps, call: Call) -> Response:
    """Answer one MCP message. The router refuses other methods than POST: there are no streams."""
    _check_origin(call.headers, deps.cors_origins)
    key = parse_bearer_token(call.headers)
    now = deps.clock.now()
    uid, stored_key = await deps.stores.mcp_keys.authenticate(key, now)
    telemetry.add_fields(uid=telemetry.hash_id(uid))
    deps.mcp_rate_limiter.check(stored_key.id, now)

    from functions.process_conversation.mcp_server.server import McpResponse

    return McpResponse(deps, uid, stored_key.scope)


def _check_origin(headers: Headers, allowed: tuple[str, ...]) -> None:
    """Refuse browser pages of foreign origins (DNS rebinding). Raises NotAllowed."""
    origin = headers.get("origin")
    if origin is None or origin in allowed:
        return
    if origin.partition("://")[2] != headers.get("host"):
        raise NotAllowed("This origin may not call.")


ROUTES = (receive_message,)
