"""How an account is connected: its owner is sent to the service, comes back, and may leave again."""

import json
from dataclasses import replace

from functions.tool_proxy.accounts import grants
from functions.tool_proxy.authorization import away, oauth
from functions.tool_proxy.authorization.away import AUTHORIZED_WITHIN, NotConnected, Returning, Sent
from functions.tool_proxy.wiring import ServicesDeps
from shared import telemetry
from shared.domain.connection import Authorization, Connection, OauthClient, Tokens
from shared.domain.documents import lookup
from shared.domain.errors import (
    CannotUnwrap,
    Conflict,
    NotAllowed,
    NotFound,
    TooLarge,
    Unavailable,
)
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.integrations import INTEGRATIONS, integration
from shared.integrations.service import Consent, Integration, line
from shared.ports import EgressRequest, EgressResponse

_PURPOSE = "the state of an authorization"


@value
class Offer:
    """A service that a user can connect, if it is set up here, and perhaps did."""

    service: Integration
    is_set_up: bool
    connection: Connection | None


async def offers(deps: ServicesDeps, uid: UserId) -> list[Offer]:
    connected = {each.id: each for each in await deps.connections.all(uid)}
    services = [service for service in map(integration, INTEGRATIONS) if service.consent]
    return [_offer(deps, service, connected.get(service.service)) for service in services]


async def offer(deps: ServicesDeps, uid: UserId, name: str) -> Offer:
    """Raises NotFound."""
    service, _ = _connectable(name)
    return _offer(deps, service, await deps.connections.get(uid, service.service))


def _offer(deps: ServicesDeps, service: Integration, connection: Connection | None) -> Offer:
    is_set_up = service.consent is not None and service.consent.provider.name in deps.clients
    return Offer(service=service, is_set_up=is_set_up, connection=connection)


async def authorize(deps: ServicesDeps, uid: UserId, name: str) -> Sent:
    """Begin to connect an account. Raises NotFound, and Conflict if the service is not set up."""
    service, consent = _connectable(name)
    client = _client(deps, service)
    authorization = Authorization(
        id=deps.new_id(),
        service=service.service,
        verifier=oauth.new_verifier(),
        expires_at=deps.clock.now() + AUTHORIZED_WITHIN,
    )
    await deps.authorizations.add(uid, authorization)
    url = oauth.authorize_url(
        consent,
        client,
        state=await away.state_of(deps.keys, uid, authorization.id, purpose=_PURPOSE),
        verifier=authorization.verifier,
        redirect_uri=deps.redirect_uri,
    )
    return Sent(url=url, authorization_id=authorization.id)


async def returning(deps: ServicesDeps, state: str) -> Returning:
    """Read who comes back. Raises NotConnected for what is no state of ours."""
    return await away.returning(deps.keys, state, purpose=_PURPOSE)


async def complete(deps: ServicesDeps, who: Returning, code: str | None) -> Integration:
    """Take a user back who was sent away, each once; without a code they did not allow it.

    Raises NotConnected and Unavailable.
    """
    authorization = await _taken(deps, who)
    service, consent = _connectable(authorization.service)
    if not code:
        raise NotConnected(f"{service.label} was not connected: access was not allowed.")
    granted = await _granted(deps, service, consent, code, authorization)
    if granted.scopes is not None and not granted.scopes.issuperset(consent.scopes):
        raise NotConnected(
            f"{service.label} was not connected: not everything it needs was allowed."
        )
    connection = Connection(
        id=service.service,
        account=await _account(deps, service, consent, granted.tokens),
        scopes=tuple(sorted(granted.scopes or consent.scopes)),
        connected_at=deps.clock.now(),
    )
    await deps.grants.put(who.uid, connection, granted.tokens)
    return service


async def disconnect(deps: ServicesDeps, uid: UserId, name: str) -> bool:
    """Forget an account's tokens; returns whether the provider took them back before.

    An account that another connection shares at its provider would lose that one, too: then, and
    when the provider does not answer, the tokens are only forgotten. Raises NotFound.
    """
    service, consent = _connectable(name)
    await grants.settle(deps, uid, service)
    tokens = await _revocable(deps, uid, service, consent)
    revoked = tokens is not None and await _revoked(deps, service, consent, tokens)
    await deps.grants.remove(uid, service.service)
    return revoked


async def disconnect_all(deps: ServicesDeps, uid: UserId) -> None:
    for connection in await deps.connections.all(uid):
        await disconnect(deps, uid, connection.id)


def _connectable(name: str) -> tuple[Integration, Consent]:
    service = integration(name)
    if service.consent is None:
        raise NotFound("There is no such service")
    return service, service.consent


def _client(deps: ServicesDeps, service: Integration) -> OauthClient:
    try:
        return grants.client_of(deps, service)
    except Unavailable as missing:
        raise Conflict(f"{missing}.") from missing


async def _taken(deps: ServicesDeps, who: Returning) -> Authorization:
    now = deps.clock.now()
    authorization = await deps.authorizations.take(who.uid, who.authorization_id, now=now)
    if authorization is None:
        raise NotConnected("This link was used already, or it is too old. Please start again.")
    return authorization


async def _granted(
    deps: ServicesDeps,
    service: Integration,
    consent: Consent,
    code: str,
    authorization: Authorization,
) -> oauth.Granted:
    request = oauth.code_request(
        consent.provider,
        grants.client_of(deps, service),
        code=code,
        verifier=authorization.verifier,
        redirect_uri=deps.redirect_uri,
    )
    try:
        return await grants.exchange(deps, request)
    except oauth.Refused as refused:
        telemetry.warning("code_refused", service=service.service)
        raise NotConnected(f"{service.label} was not connected: it did not agree.") from refused


async def _account(
    deps: ServicesDeps, service: Integration, consent: Consent, tokens: Tokens
) -> str:
    """Return how the service names the account; nothing where it does not say."""
    request = EgressRequest(
        method="GET",
        url=consent.account,
        headers={
            "Accept": "application/json",
            **service.headers,
            "Authorization": f"Bearer {tokens.access_token}",
        },
    )
    response = await _sent(deps, service, request)
    try:
        answer = json.loads(response.body) if response and response.status == 200 else {}
    except (ValueError, RecursionError):
        answer = {}
    name = lookup(answer, consent.account_name)
    return line(name, 100) if isinstance(name, str) else ""


async def _revocable(
    deps: ServicesDeps, uid: UserId, service: Integration, consent: Consent
) -> Tokens | None:
    try:
        grant = await deps.grants.get(uid, service.service)
    except CannotUnwrap:
        return None
    if grant is None or await _is_shared(deps, uid, service, consent):
        return None
    return grant.tokens


async def _is_shared(
    deps: ServicesDeps, uid: UserId, service: Integration, consent: Consent
) -> bool:
    """Tell whether another connection stands on the same account at the same provider."""
    connected = await deps.connections.all(uid)
    accounts = {each.account for each in connected if each.id == service.service}
    return any(
        each.account in accounts and _provider(each.id) == consent.provider.name
        for each in connected
        if each.id != service.service
    )


def _provider(name: str) -> str | None:
    consent = integration(name).consent
    return consent.provider.name if consent else None


async def _revoked(
    deps: ServicesDeps, service: Integration, consent: Consent, tokens: Tokens
) -> bool:
    if consent.provider.name not in deps.clients:
        return False
    request = consent.provider.revocation(deps.clients[consent.provider.name], tokens)
    response = await _sent(deps, service, request)
    if response is not None and 200 <= response.status < 300:
        return True
    telemetry.warning("not_revoked", service=service.service)
    return False


async def _sent(
    deps: ServicesDeps, service: Integration, request: EgressRequest
) -> EgressResponse | None:
    """Ask for what we can do without."""
    url = oauth.at(grants.client_of(deps, service), request.url)
    try:
        return await deps.egress.send(replace(request, url=url, timeout_s=oauth.TIMEOUT_S))
    except (Unavailable, NotAllowed, TooLarge):
        return None
