"""MCP keys over HTTP: created, listed and revoked by their owner."""

import secrets
from datetime import timedelta

from functions.process_conversation.deps import LibraryDeps
from functions.process_conversation.mcp_server.mcp_schemas import McpKeyIn, McpKeyOut, NewMcpKeyOut
from shared.data.mcp_keys import KEY_PREFIX, MAX_KEYS, key_id
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import is_id
from shared.domain.mcp_key import McpKey
from shared.edge.routes import Call, route


@route(
    "POST",
    "/v1/mcp/keys",
    "Create a key for an MCP client",
    status=201,
    errors=(401, 409),
    check="revocation",
)
async def create_key(deps: LibraryDeps, call: Call[McpKeyIn]) -> NewMcpKeyOut:
    if len(await deps.stores.mcp_keys.list_all(call.uid)) >= MAX_KEYS:
        raise Conflict(f"You may have {MAX_KEYS} keys; remove one first.")
    secret = secrets.token_urlsafe(32)
    full_key = f"{KEY_PREFIX}{call.uid}.{secret}"
    now = deps.clock.now()
    key = McpKey(
        id=key_id(full_key),
        name=call.body.name,
        label=f"{KEY_PREFIX}…{secret[-4:]}",
        created_at=now,
        expires_at=now + timedelta(days=call.body.expires_in_days),
        scope=call.body.scope,
    )
    await deps.stores.mcp_keys.add(call.uid, key)
    return NewMcpKeyOut(**dict(McpKeyOut.model_validate(key)), key=full_key)


@route("GET", "/v1/mcp/keys", "List the keys of MCP clients", errors=(401,))
async def list_keys(deps: LibraryDeps, call: Call) -> list[McpKeyOut]:
    return [McpKeyOut.model_validate(key) for key in await deps.stores.mcp_keys.list_all(call.uid)]


@route(
    "DELETE",
    "/v1/mcp/keys/{key_id}",
    "Revoke the key of an MCP client",
    status=204,
    errors=(401, 404),
)
async def delete_key(deps: LibraryDeps, call: Call) -> None:
    if not is_id(call.path["key_id"]):
        raise NotFound("Key not found")
    await deps.stores.mcp_keys.remove(call.uid, call.path["key_id"])


ROUTES = (
    create_key,
    list_keys,
    delete_key,
)
