"""Access of programs: whose library a key or a token opens, how far, and how often.

Also called: key scopes.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from starlette.datastructures import Headers

from functions.library.programs.challenges import get_resource, refuse_scope, refuse_token
from shared import telemetry
from shared.domain.account.api_key import DeveloperScope, KeyScope
from shared.domain.account.connected_program import is_access_token, parse_secret
from shared.domain.errors import NotAllowed, NotAuthenticated
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.edge.declare.routes import Call
from shared.library.deps import LibraryDeps

MISSING_KEY_MESSAGE = "Invalid or missing API key. Provide via Authorization header."


@value
class KeyOwner:
    """A user, for whom the program with the key `id` calls.

    One that is `connected` has no key but a token, and can ask its owner for more than `scope`.
    """

    uid: UserId
    id: str
    scope: KeyScope = "read"
    is_connected: bool = False

    @property
    def offered_scope(self) -> KeyScope:
        """What it is shown: a program asks for what it calls, and so has to know of it."""
        return "write" if self.is_connected else self.scope


Authorizer = Callable[[LibraryDeps, Call[None, Any]], Awaitable[KeyOwner]]


def authorize_mcp_key(access: KeyScope) -> Authorizer:
    """Make the authorization of a route that a program calls as an MCP client."""

    async def authorize(deps: LibraryDeps, call: Call[None, Any]) -> KeyOwner:
        owner = await authenticate_mcp_key(deps, call.headers)
        if access == "write" and owner.scope != "write":
            if owner.is_connected:
                raise refuse_scope(deps.public_url)
            raise NotAllowed("This key may only read. Its owner can create one that may write.")
        return owner

    return authorize


async def authenticate_mcp_key(deps: LibraryDeps, headers: Headers) -> KeyOwner:
    """Return whose key or token came with a request. Raises RequestRejected, TooMany."""
    now = deps.clock.now()
    try:
        owner = await _find_owner(deps, _read_key(headers), now)
    except NotAuthenticated as error:
        is_sent = "authorization" in headers or "uid" in headers
        raise refuse_token(deps.public_url, str(error), is_sent=is_sent) from error
    telemetry.add_fields(uid=telemetry.hash_id(owner.uid))
    deps.key_rate_limiter.check(owner.id, now)
    return owner


async def _find_owner(deps: LibraryDeps, key_text: str, now: datetime) -> KeyOwner:
    """Raises NotAuthenticated, also for a token that is bound to another address of ours."""
    if not is_access_token(key_text):
        uid, key = await deps.stores.mcp_keys.authenticate(key_text, now)
        return KeyOwner(uid=uid, id=key.id, scope=key.scope)
    token = parse_secret(key_text, "access")
    program = await deps.stores.connected_programs.authenticate(token, now)
    if program.resource != get_resource(deps.public_url):
        raise NotAuthenticated("This token is for another server.")
    return KeyOwner(uid=token.uid, id=program.id, scope=program.scope, is_connected=True)


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
