"""Account tokens: those of a connected account, refreshed by one call for all that need them.

Also called: access token.
"""

from typing import Any

from functions.tool_proxy.oauth import requests
from functions.tool_proxy.oauth.token_refresh import MAX_POLLS, POLL_S, is_expiring, refresh_once
from functions.tool_proxy.oauth_deps import OauthDeps, ServicesDeps
from shared import telemetry
from shared.domain.apps.connection import OauthClient, StoredTokens, Tokens
from shared.domain.errors import (
    CannotUnwrap,
    KeepsakeError,
    NotAllowed,
    NotFound,
    PreconditionFailed,
    TooLarge,
    Unavailable,
)
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.integrations.service import Integration
from shared.ports import EgressRequest


class ConnectionExpired(KeepsakeError):
    """The owner has to connect the account again."""

    def __init__(self, service: Integration) -> None:
        super().__init__(
            f"Your {service.label} connection has expired. Reconnect it in the settings."
        )


async def get_valid_tokens(
    deps: ServicesDeps, uid: UserId, service: Integration
) -> StoredTokens[Tokens]:
    """Return tokens, refreshed if they expire soon.

    Raises NotFound, ConnectionExpired and Unavailable.
    """
    account = _ServiceAccount(deps=deps, uid=uid, service=service)
    stored_tokens = await account.load()
    if is_expiring(stored_tokens.tokens, deps.clock.now()):
        return await refresh_tokens(deps, uid, service, stored_tokens)
    return stored_tokens


async def refresh_tokens(
    deps: ServicesDeps, uid: UserId, service: Integration, old: StoredTokens[Tokens]
) -> StoredTokens[Tokens]:
    """Return the tokens that follow `old`: one caller refreshes them, the others wait.

    Raises NotFound, ConnectionExpired and Unavailable.
    """
    account = _ServiceAccount(deps=deps, uid=uid, service=service)
    return await refresh_once(account, old, holder=deps.new_id(), clock=deps.clock)


@value
class _ServiceAccount:
    """A user's account at a service, with tokens that can be refreshed."""

    deps: ServicesDeps
    uid: UserId
    service: Integration

    async def load(self) -> StoredTokens[Tokens]:
        try:
            stored_tokens = await self.deps.tokens.get(self.uid, self.service.service)
        except CannotUnwrap as error:
            raise ConnectionExpired(self.service) from error
        if stored_tokens is None:
            raise NotFound(f"{self.service.label} is not connected. Connect it in the settings.")
        if stored_tokens.health == "expired":
            raise ConnectionExpired(self.service)
        return stored_tokens

    async def refresh(self, old: StoredTokens[Tokens]) -> None:
        """Mark a connection that cannot be refreshed; if others were stored meanwhile, those count."""
        store, name = self.deps.tokens, self.service.service
        try:
            tokens = await _exchange_refresh_token(self.deps, self.service, old.tokens)
            if tokens is None:
                await store.expire(self.uid, name, old)
            else:
                await store.replace(self.uid, name, old, tokens)
        except PreconditionFailed:
            telemetry.warning("refreshed_too_late", service=name)

    async def claim(self, holder: str) -> bool:
        now = self.deps.clock.now()
        return await self.deps.tokens.claim(self.uid, self.service.service, holder, now=now)

    async def release(self, holder: str) -> None:
        await self.deps.tokens.release(self.uid, self.service.service, holder)


async def _exchange_refresh_token(
    deps: ServicesDeps, service: Integration, old: Tokens
) -> Tokens | None:
    """Return new tokens for old ones; None if the owner has to connect the account again."""
    if service.connection is None or old.refresh_token is None:
        return None
    provider = service.connection.provider
    request = requests.build_refresh_request(
        provider, get_oauth_client(deps, service), old.refresh_token
    )
    try:
        return (await exchange(deps, request, previous=old)).tokens
    except requests.OAuthError as refusal:
        if refusal.is_expired:
            return None
        telemetry.error("refresh_refused", service=service.service)
        raise Unavailable(f"{service.label} does not refresh its tokens") from refusal


async def wait_for_refresh(deps: ServicesDeps, uid: UserId, service: Integration) -> None:
    """Wait for a refresh that is under way, and claim the right to the next."""
    holder = deps.new_id()
    for _ in range(MAX_POLLS):
        if await deps.tokens.claim(uid, service.service, holder, now=deps.clock.now()):
            return
        await deps.clock.sleep(POLL_S)


async def exchange(
    deps: OauthDeps[Any], request: EgressRequest, *, previous: Tokens | None = None
) -> requests.TokenResponse:
    """Ask an authorization server for tokens. Raises OAuthError and Unavailable."""
    try:
        response = await deps.egress.send(request)
    except (NotAllowed, TooLarge) as error:
        raise Unavailable(f"The authorization server cannot be asked: {error}") from error
    return requests.parse_token_response(response, now=deps.clock.now(), previous=previous)


def get_oauth_client(deps: ServicesDeps, service: Integration) -> OauthClient:
    """Return our client at the service's provider. Raises Unavailable if it is not set up."""
    name = service.connection.provider.name if service.connection else service.service
    if name not in deps.clients:
        raise Unavailable(f"{service.label} is not set up here")
    return deps.clients[name]
