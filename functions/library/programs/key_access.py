"""API key access: whose library a key opens, how far, and how often.

Also called: key scopes.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.datastructures import Headers

from shared import telemetry
from shared.domain.account.api_key import DeveloperScope, KeyScope
from shared.domain.errors import NotAllowed, NotAuthenticated
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.edge.declare.routes import Call
from shared.library.deps import LibraryDeps

MISSING_KEY_MESSAGE = "Invalid or missing API key. Provide via Authorization header."


@value
class KeyOwner:
    """A user, for whom the program with the key `id` calls."""

    uid: UserId
    id: str
    scope: KeyScope = "read"


Authorizer = Callable[[LibraryDeps, Call[None, Any]], Awaitable[KeyOwner]]


def authorize_mcp_key(access: KeyScope) -> Authorizer:
    """Make the authorization of a route that a program calls by the key of an MCP client."""

    async def authorize(deps: LibraryDeps, call: Call[None, Any]) -> KeyOwner:
        owner = await authenticate_mcp_key(deps, call.headers)
        if access == "write" and owner.scope != "write":
            raise NotAllowed("This key may only read. Its owner can create one that may write.")
        return owner

    return authorize


async def authenticate_mcp_key(deps: LibraryDeps, headers: Headers) -> KeyOwner:
    """Return whose key came with a request. Raises NotAuthenticated, TooMany."""
    now, key_text = deps.clock.now(), _read_key(headers)
    uid, key = await deps.stores.mcp_keys.authenticate(key_text, now)
    telemetry.add_fields(uid=telemetry.hash_id(uid))
    deps.key_rate_limiter.check(key.id, now)
    return KeyOwner(uid=uid, id=key.id, scope=key.scope)


def authorize_developer_key(scope: DeveloperScope) -> Authorizer:
    """Make the authorization of a route of the developer API, for keys with this scope."""

    async def authorize(deps: LibraryDeps, call: Call[None, Any]) -> KeyOwner:
        now, key_text = deps.clock.now(), _read_key(call.headers)
        uid, key = await deps.stores.developer_keys.authenticate(key_text, now)
        telemetry.add_fields(uid=telemetry.hash_id(uid))
        deps.key_rate_limiter.check(key.id, now)
        if scope not in key.scopes:
            raise NotAllowed(f"This key lacks the scope {scope}.")
        return KeyOwner(uid=uid, id=key.id)

    return authorize


def _read_key(headers: Headers) -> str:
    """Return the key, with or without `Bearer`. Raises NotAuthenticated.

    Omi's packaged MCP server sends what its user typed in a header `uid`: a key works there, too.
    """
    text = headers.get("authorization") or headers.get("uid") or ""
    scheme, _, token = text.strip().partition(" ")
    key = token.strip() if scheme.lower() == "bearer" else scheme
    if not key:
        raise NotAuthenticated(MISSING_KEY_MESSAGE)
    return key
