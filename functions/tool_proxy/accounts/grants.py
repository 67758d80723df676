"""Tokens that open an account, refreshed once however many calls want them at the same time."""

from functions.tool_proxy.authorization import oauth
from functions.tool_proxy.authorization.renewal import MOST_POLLS, POLL_S, renewed_once
from functions.tool_proxy.wiring import ServicesDeps
from shared import telemetry
from shared.domain.connection import Grant, OauthClient, Tokens
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

LEAST_LEFT_S = 60
"""A token that ends sooner is refreshed before it is used."""


class Expired(KeepsakeError):
    """Only the owner can mend it, by connecting the account again."""

    def __init__(self, service: Integration) -> None:
        super().__init__(
            f"Your {service.label} connection has expired. Reconnect it in the settings."
        )


async def current(deps: ServicesDeps, uid: UserId, service: Integration) -> Grant:
    """Return tokens that should hold. Raises NotFound, Expired and Unavailable."""
    grant = await _held(deps, uid, service)
    ends = grant.tokens.expires_at
    if ends is None or (ends - deps.clock.now()).total_seconds() > LEAST_LEFT_S:
        return grant
    return await following(deps, uid, service, grant)


async def following(deps: ServicesDeps, uid: UserId, service: Integration, grant: Grant) -> Grant:
    """Return what follows `grant`: one caller refreshes it, the others wait for that.

    Raises NotFound, Expired and Unavailable.
    """
    account = _Account(deps=deps, uid=uid, service=service)
    return await renewed_once(account, grant, holder=deps.new_id(), clock=deps.clock)


@value
class _Account:
    """A user's account at a service, as something whose tokens are renewed."""

    deps: ServicesDeps
    uid: UserId
    service: Integration

    async def held(self) -> Grant:
        return await _held(self.deps, self.uid, self.service)

    async def renew(self, old: Grant) -> None:
        await _refresh(self.deps, self.uid, self.service, old)

    async def claim(self, holder: str) -> bool:
        now = self.deps.clock.now()
        return await self.deps.grants.claim(self.uid, self.service.service, holder, now=now)

    async def release(self, holder: str) -> None:
        await self.deps.grants.release(self.uid, self.service.service, holder)


async def _refresh(deps: ServicesDeps, uid: UserId, service: Integration, grant: Grant) -> None:
    """Store new tokens before anybody uses them; if others are stored meanwhile, those count."""
    try:
        tokens = await _exchanged(deps, service, grant.tokens)
        if tokens is None:
            await deps.grants.expire(uid, service.service, grant)
        else:
            await deps.grants.replace(uid, service.service, grant, tokens)
    except PreconditionFailed:
        telemetry.warning("refreshed_too_late", service=service.service)


async def _exchanged(deps: ServicesDeps, service: Integration, old: Tokens) -> Tokens | None:
    """Return new tokens for old ones; None where only the owner can help."""
    if service.consent is None or old.refresh_token is None:
        return None
    provider = service.consent.provider
    request = oauth.refresh_request(provider, client_of(deps, service), old.refresh_token)
    try:
        return (await exchange(deps, request, before=old)).tokens
    except oauth.Refused as refused:
        if refused.expired:
            return None
        telemetry.error("refresh_refused", service=service.service)
        raise Unavailable(f"{service.label} does not refresh its tokens") from refused


async def settle(deps: ServicesDeps, uid: UserId, service: Integration) -> None:
    """Wait for a refresh that is under way, and keep others from beginning one."""
    holder = deps.new_id()
    for _ in range(MOST_POLLS):
        if await deps.grants.claim(uid, service.service, holder, now=deps.clock.now()):
            return
        await deps.clock.sleep(POLL_S)


async def exchange(
    deps: ServicesDeps, request: EgressRequest, *, before: Tokens | None = None
) -> oauth.Granted:
    """Ask a provider for tokens. Raises oauth.Refused and Unavailable."""
    try:
        response = await deps.egress.send(request)
    except (NotAllowed, TooLarge) as wrong:
        raise Unavailable(f"The provider cannot be asked: {wrong}") from wrong
    return oauth.granted(response, now=deps.clock.now(), before=before)


def client_of(deps: ServicesDeps, service: Integration) -> OauthClient:
    """Return who we are where the service is asked. Raises Unavailable if that is not set up."""
    name = service.consent.provider.name if service.consent else service.service
    if name not in deps.clients:
        raise Unavailable(f"{service.label} is not set up here")
    return deps.clients[name]


async def _held(deps: ServicesDeps, uid: UserId, service: Integration) -> Grant:
    try:
        grant = await deps.grants.get(uid, service.service)
    except CannotUnwrap as lost:
        raise Expired(service) from lost
    if grant is None:
        raise NotFound(f"{service.label} is not connected. Connect it in the settings.")
    if grant.health == "expired":
        raise Expired(service)
    return grant
