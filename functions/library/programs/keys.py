"""API keys over HTTP: created, listed and revoked by their owner.

Also called: API key management, personal access tokens.
"""

import secrets
from datetime import timedelta
from typing import Any

from functions.library.programs.key_schemas import (
    DeveloperKeyIn,
    DeveloperKeyOut,
    McpKeyIn,
    McpKeyOut,
    NewDeveloperKeyOut,
    NewMcpKeyOut,
)
from shared.data.account.api_keys import ApiKeys
from shared.domain.account.api_key import DeveloperKey, McpKey
from shared.edge.declare.routes import Call, route
from shared.library.deps import LibraryDeps

SECRET_BYTES = 32


@route(
    "POST",
    "/v1/mcp/keys",
    "Create a key for an MCP client",
    errors=(401, 409),
    check="revocation",
)
async def create_mcp_key(deps: LibraryDeps, call: Call[McpKeyIn]) -> NewMcpKeyOut:
    keys = deps.stores.mcp_keys
    secret = keys.build_secret(call.uid, secrets.token_urlsafe(SECRET_BYTES))
    key = McpKey(**_build_key_fields(deps, keys, call, secret), scope=call.body.scope)
    await keys.add(call.uid, key)
    return NewMcpKeyOut(**dict(McpKeyOut.model_validate(key)), key=secret)


@route("GET", "/v1/mcp/keys", "List the keys of MCP clients, newest first", errors=(401,))
async def list_mcp_keys(deps: LibraryDeps, call: Call) -> list[McpKeyOut]:
    return [McpKeyOut.model_validate(key) for key in await deps.stores.mcp_keys.list_all(call.uid)]


@route(
    "DELETE",
    "/v1/mcp/keys/{key_id}",
    "Revoke the key of an MCP client",
    status=204,
    errors=(401, 404),
)
async def delete_mcp_key(deps: LibraryDeps, call: Call) -> None:
    await deps.stores.mcp_keys.remove(call.uid, call.path["key_id"])


@route(
    "POST",
    "/v1/dev/keys",
    "Create a key for the developer API",
    errors=(401, 409),
    check="revocation",
)
async def create_developer_key(deps: LibraryDeps, call: Call[DeveloperKeyIn]) -> NewDeveloperKeyOut:
    keys, scopes = deps.stores.developer_keys, tuple(call.body.scopes or ())
    secret = keys.build_secret(call.uid, secrets.token_urlsafe(SECRET_BYTES))
    key = DeveloperKey(**_build_key_fields(deps, keys, call, secret), scopes=scopes)
    await keys.add(call.uid, key)
    return NewDeveloperKeyOut(**dict(DeveloperKeyOut.model_validate(key)), key=secret)


@route("GET", "/v1/dev/keys", "List the keys of the developer API, newest first", errors=(401,))
async def list_developer_keys(deps: LibraryDeps, call: Call) -> list[DeveloperKeyOut]:
    keys = await deps.stores.developer_keys.list_all(call.uid)
    return [DeveloperKeyOut.model_validate(key) for key in keys]


@route(
    "DELETE",
    "/v1/dev/keys/{key_id}",
    "Revoke a key of the developer API",
    status=204,
    errors=(401, 404),
)
async def delete_developer_key(deps: LibraryDeps, call: Call) -> None:
    await deps.stores.developer_keys.remove(call.uid, call.path["key_id"])


def _build_key_fields(
    deps: LibraryDeps, keys: ApiKeys[Any], call: Call[Any], secret: str
) -> dict[str, Any]:
    now = deps.clock.now()
    return {
        "id": keys.hash(secret),
        "name": call.body.name,
        "label": keys.build_label(secret),
        "created_at": now,
        "expires_at": now + timedelta(days=call.body.expires_in_days),
    }


ROUTES = (
    create_mcp_key,
    list_mcp_keys,
    delete_mcp_key,
    create_developer_key,
    list_developer_keys,
    delete_developer_key,
)
