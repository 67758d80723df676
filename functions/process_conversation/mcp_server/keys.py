"""Keys for MCP clients over HTTP: made, listed and revoked by their owner."""

import secrets

from functions.process_conversation.deps import LibraryDeps
from functions.process_conversation.mcp_server.mcp_schemas import McpKeyIn, McpKeyOut, NewMcpKeyOut
from shared.data.mcp_keys import KEY_PREFIX, MAX_KEYS, key_id
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import is_id
from shared.domain.mcp_key import McpKey
from shared.edge.http import Call, Endpoint


async def create_key(deps: LibraryDeps, call: Call[McpKeyIn]) -> NewMcpKeyOut:
    if len(await deps.stores.mcp_keys.list_all(call.uid)) >= MAX_KEYS:
        raise Conflict(f"You may have {MAX_KEYS} keys; remove one first.")
    secret = secrets.token_urlsafe(32)
    full_key = f"{KEY_PREFIX}{call.uid}.{secret}"
    key = McpKey(
        id=key_id(full_key),
        name=call.body.name,
        label=f"{KEY_PREFIX}…{secret[-4:]}",
        created_at=deps.clock.now(),
    )
    await deps.stores.mcp_keys.add(call.uid, key)
    return NewMcpKeyOut(**dict(McpKeyOut.model_validate(key)), key=full_key)


async def list_keys(deps: LibraryDeps, call: Call[None]) -> list[McpKeyOut]:
    return [McpKeyOut.model_validate(key) for key in await deps.stores.mcp_keys.list_all(call.uid)]


async def delete_key(deps: LibraryDeps, call: Call[None]) -> None:
    if not is_id(call.path["key_id"]):
        raise NotFound("Key not found")
    await deps.stores.mcp_keys.remove(call.uid, call.path["key_id"])


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/v1/mcp/keys",
        handler=create_key,
        summary="Create a key for an MCP client",
        body=McpKeyIn,
        response=NewMcpKeyOut,
        status=201,
        errors=(401, 409),
    ),
    Endpoint(
        method="GET",
        path="/v1/mcp/keys",
        handler=list_keys,
        summary="List the keys of MCP clients",
        response=list[McpKeyOut],
        errors=(401,),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/mcp/keys/{key_id}",
        handler=delete_key,
        summary="Revoke the key of an MCP client",
        status=204,
        errors=(401, 404),
    ),
)
