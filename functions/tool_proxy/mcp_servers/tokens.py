"""Tokens of users' MCP servers: exchanged for a code, and refreshed before they expire."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar
from urllib.parse import urlencode

from functions.tool_proxy.accounts import account_tokens
from functions.tool_proxy.mcp_servers.errors import Unauthorized
from functions.tool_proxy.oauth import requests
from functions.tool_proxy.oauth.token_refresh import is_expiring, refresh_once
from functions.tool_proxy.oauth_deps import McpDeps
from shared import telemetry
from shared.domain.apps.app import App
from shared.domain.apps.connection import StoredTokens, Tokens
from shared.domain.apps.mcp_authorization import McpAccess, McpTokens
from shared.domain.errors import CannotUnwrap, NotFound, PreconditionFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.integrations.service import build_basic_auth
from shared.ports import EgressRequest

MAX_TOKEN_RESPONSE_BYTES = 16_384
"""Only small secrets can be wrapped."""
T = TypeVar("T")


async def call_with_token(
    deps: McpDeps, uid: UserId, app: App, ask: Callable[[str | None], Awaitable[T]]
) -> T:
    """Run `ask` with this user's token, if there is one; if it is refused, again with a newer one.

    Raises Unavailable, Unauthorized if the user has to authorize, and the errors of `ask`.
    """
    token = await _get_valid_token(deps, uid, app)
    try:
        return await ask(token)
    except Unauthorized:
        new_token = await _get_valid_token(deps, uid, app, refused_token=token) if token else None
        if new_token is None:
            raise
        return await ask(new_token)


async def _get_valid_token(
    deps: McpDeps, uid: UserId, app: App, *, refused_token: str | None = None
) -> str | None:
    """Return a token, refreshed if it expires soon; None if the user has to authorize."""
    account = _McpAccount(deps=deps, uid=uid, app=app)
    try:
        stored_tokens = await account.load()
        tokens = stored_tokens.tokens.tokens
        if tokens.access_token == refused_token or is_expiring(tokens, deps.clock.now()):
            stored_tokens = await refresh_once(
                account, stored_tokens, holder=deps.new_id(), clock=deps.clock
            )
    except NotFound:
        return None
    return stored_tokens.tokens.tokens.access_token


async def exchange(
    deps: McpDeps, access: McpAccess, *, previous: Tokens | None = None, **fields: str
) -> Tokens:
    """Ask the authorization server for tokens. Raises OAuthError and Unavailable."""
    request = _build_request(access, fields)
    return (await account_tokens.exchange(deps, request, previous=previous)).tokens


def _build_request(access: McpAccess, fields: Mapping[str, str]) -> EgressRequest:
    form = {**fields, "client_id": access.client.id, "resource": access.resource}
    headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
    if access.client_in == "header":
        headers["Authorization"] = build_basic_auth(access.client)
    if access.client_in == "body":
        form["client_secret"] = access.client.secret
    return EgressRequest(
        method="POST",
        url=access.token_endpoint,
        headers=headers,
        body=urlencode(form).encode(),
        timeout_s=requests.TIMEOUT_S,
        max_bytes=MAX_TOKEN_RESPONSE_BYTES,
    )


@value
class _McpAccount:
    """A user's account at an MCP server, with tokens that can be refreshed."""

    deps: McpDeps
    uid: UserId
    app: App

    @property
    def _server_url(self) -> str:
        return self.app.external_integration.mcp_server_url or ""

    async def load(self) -> StoredTokens[McpTokens]:
        try:
            stored_tokens = await self.deps.tokens.get(
                self.uid, self.app.id, audience=self._server_url
            )
        except CannotUnwrap as error:
            raise NotFound("The tokens of this server cannot be read") from error
        if stored_tokens is None:
            raise NotFound("This server is not connected")
        return stored_tokens

    async def refresh(self, old: StoredTokens[McpTokens]) -> None:
        """Forget tokens that cannot be refreshed; if others were stored meanwhile, those count."""
        store = self.deps.tokens
        try:
            tokens = await self._exchange_refresh_token(old.tokens)
            if tokens is None:
                await store.remove(self.uid, self.app.id, old)
            else:
                new = replace(old.tokens, tokens=tokens)
                await store.replace(self.uid, self.app.id, old, new, audience=self._server_url)
        except PreconditionFailed:
            telemetry.warning("refreshed_too_late", service="mcp")

    async def _exchange_refresh_token(self, old: McpTokens) -> Tokens | None:
        token = old.tokens.refresh_token
        if token is None:
            return None
        ask = partial(exchange, self.deps, old.access, previous=old.tokens)
        try:
            return await ask(grant_type="refresh_token", refresh_token=token)
        except requests.OAuthError as refusal:
            if refusal.is_expired:
                return None
            raise Unavailable("The authorization server does not refresh tokens") from refusal

    async def claim(self, holder: str) -> bool:
        now = self.deps.clock.now()
        return await self.deps.tokens.claim(self.uid, self.app.id, holder, now=now)

    async def release(self, holder: str) -> None:
        await self.deps.tokens.release(self.uid, self.app.id, holder)
