"""Connected accounts: authorize a service's account by OAuth, complete it, and disconnect it.

Also called: account linking.
"""

import json
from dataclasses import replace

from functions.tool_proxy.accounts import account_tokens
from functions.tool_proxy.oauth import requests
from functions.tool_proxy.oauth import state as oauth_state
from functions.tool_proxy.oauth.state import (
    AUTHORIZATION_TTL,
    AuthorizationRedirect,
    CallbackState,
    NotConnected,
)
from functions.tool_proxy.oauth_deps import A, OauthDeps, ServicesDeps
from shared import telemetry
from shared.domain.apps.connection import Authorization, Connection, OauthClient, Tokens
from shared.domain.errors import (
    CannotUnwrap,
    Conflict,
    NotAllowed,
    NotFound,
    TooLarge,
    Unavailable,
)
from shared.domain.ids import UserId
from shared.domain.store.documents import lookup
from shared.domain.value import value
from shared.integrations import INTEGRATIONS, load_integration
from shared.integrations.service import ConnectionSpec, Integration, to_one_line
from shared.ports import EgressRequest, EgressResponse

_STATE_PURPOSE = "the state of an authorization"


@value
class ConnectableService:
    """A service whose accounts can be connected, and this user's connection if there is one."""

    service: Integration
    is_set_up: bool
    connection: Connection | None


async def list_connectable(deps: ServicesDeps, uid: UserId) -> list[ConnectableService]:
    connections_by_service = {
        connection.id: connection for connection in await deps.stores.connections.list_all(uid)
    }
    services = [service for service in map(load_integration, INTEGRATIONS) if service.connection]
    return [
        _build_connectable(deps, service, connections_by_service.get(service.service))
        for service in services
    ]


async def get_connectable(deps: ServicesDeps, uid: UserId, name: str) -> ConnectableService:
    """Raises NotFound."""
    service, _ = _require_connectable(name)
    return _build_connectable(
        deps, service, await deps.stores.connections.get(uid, service.service)
    )


def _build_connectable(
    deps: ServicesDeps, service: Integration, connection: Connection | None
) -> ConnectableService:
    is_set_up = service.connection is not None and service.connection.provider.name in deps.clients
    return ConnectableService(service=service, is_set_up=is_set_up, connection=connection)


async def authorize(deps: ServicesDeps, uid: UserId, name: str) -> AuthorizationRedirect:
    """Start to connect an account. Raises NotFound, and Conflict if the service is not set up."""
    service, spec = _require_connectable(name)
    client = _require_client(deps, service)
    authorization = Authorization(
        id=deps.new_id(),
        service=service.service,
        verifier=requests.create_verifier(),
        expires_at=deps.clock.now() + AUTHORIZATION_TTL,
    )
    await deps.authorizations.add(uid, authorization.id, authorization)
    url = requests.build_authorize_url(
        spec,
        client,
        state=await oauth_state.issue_state(
            deps.keys, uid, authorization.id, purpose=_STATE_PURPOSE
        ),
        verifier=authorization.verifier,
        redirect_uri=deps.redirect_uri,
    )
    return AuthorizationRedirect(url=url, authorization_id=authorization.id)


async def verify_state(deps: ServicesDeps, state: str) -> CallbackState:
    """Read which user comes back. Raises NotConnected for a state that is not ours."""
    return await oauth_state.verify_state(deps.keys, state, purpose=_STATE_PURPOSE)


async def complete(deps: ServicesDeps, callback: CallbackState, code: str | None) -> Integration:
    """Store the account of a user who comes back; works once. No code means that access was denied.

    Raises NotConnected and Unavailable.
    """
    authorization = await consume_authorization(deps, callback)
    service, spec = _require_connectable(authorization.service)
    if not code:
        raise NotConnected(f"{service.label} was not connected: access was not allowed.")
    token_response = await _exchange_code(deps, service, spec, code, authorization)
    if token_response.scopes is not None and not token_response.scopes.issuperset(spec.scopes):
        raise NotConnected(
            f"{service.label} was not connected: not everything it needs was allowed."
        )
    connection = Connection(
        id=service.service,
        account=await _fetch_account_name(deps, service, spec, token_response.tokens),
        scopes=tuple(sorted(token_response.scopes or spec.scopes)),
        connected_at=deps.clock.now(),
    )
    await deps.tokens.connect(callback.uid, connection, token_response.tokens)
    return service


async def disconnect(deps: ServicesDeps, uid: UserId, name: str) -> bool:
    """Delete an account's tokens; returns whether the provider revoked them first.

    They are not revoked if another connection uses the same account at the same provider, which
    would end too, nor if the provider does not answer. Raises NotFound.
    """
    service, spec = _require_connectable(name)
    await account_tokens.wait_for_refresh(deps, uid, service)
    tokens = await _load_revocable_tokens(deps, uid, service, spec)
    is_revoked = tokens is not None and await _revoke(deps, service, spec, tokens)
    await deps.tokens.disconnect(uid, service.service)
    return is_revoked


async def disconnect_all(deps: ServicesDeps, uid: UserId) -> None:
    for connection in await deps.stores.connections.list_all(uid):
        await disconnect(deps, uid, connection.id)


def _require_connectable(name: str) -> tuple[Integration, ConnectionSpec]:
    service = load_integration(name)
    if service.connection is None:
        raise NotFound("There is no such service")
    return service, service.connection


def _require_client(deps: ServicesDeps, service: Integration) -> OauthClient:
    try:
        return account_tokens.get_oauth_client(deps, service)
    except Unavailable as error:
        raise Conflict(f"{error}.") from error


async def consume_authorization(deps: OauthDeps[A], callback: CallbackState) -> A:
    """Return what a user who comes back was sent away with; once. Raises NotConnected."""
    now = deps.clock.now()
    authorization = await deps.authorizations.consume(
        callback.uid, callback.authorization_id, now=now
    )
    if authorization is None:
        raise NotConnected("This link was used already, or it is too old. Please start again.")
    return authorization


async def _exchange_code(
    deps: ServicesDeps,
    service: Integration,
    spec: ConnectionSpec,
    code: str,
    authorization: Authorization,
) -> requests.TokenResponse:
    request = requests.build_code_request(
        spec.provider,
        account_tokens.get_oauth_client(deps, service),
        code=code,
        verifier=authorization.verifier,
        redirect_uri=deps.redirect_uri,
    )
    try:
        return await account_tokens.exchange(deps, request)
    except requests.OAuthError as refusal:
        telemetry.warning("code_refused", service=service.service)
        raise NotConnected(f"{service.label} was not connected: it did not agree.") from refusal


async def _fetch_account_name(
    deps: ServicesDeps, service: Integration, spec: ConnectionSpec, tokens: Tokens
) -> str:
    """Return the service's name for the account, or an empty text."""
    request = EgressRequest(
        method="GET",
        url=spec.account_url,
        headers={
            "Accept": "application/json",
            **service.headers,
            "Authorization": f"Bearer {tokens.access_token}",
        },
    )
    response = await _send_optional(deps, service, request)
    try:
        answer = json.loads(response.body) if response and response.status == 200 else {}
    except (ValueError, RecursionError):
        answer = {}
    name = lookup(answer, spec.account_name_path)
    return to_one_line(name, 100) if isinstance(name, str) else ""


async def _load_revocable_tokens(
    deps: ServicesDeps, uid: UserId, service: Integration, spec: ConnectionSpec
) -> Tokens | None:
    try:
        stored_tokens = await deps.tokens.get(uid, service.service)
    except CannotUnwrap:
        return None
    if stored_tokens is None or await _is_shared(deps, uid, service, spec):
        return None
    return stored_tokens.tokens


async def _is_shared(
    deps: ServicesDeps, uid: UserId, service: Integration, spec: ConnectionSpec
) -> bool:
    """Tell whether another connection uses the same account at the same provider."""
    connections = await deps.stores.connections.list_all(uid)
    accounts = {
        connection.account for connection in connections if connection.id == service.service
    }
    return any(
        other.account in accounts and _get_provider_name(other.id) == spec.provider.name
        for other in connections
        if other.id != service.service
    )


def _get_provider_name(name: str) -> str | None:
    spec = load_integration(name).connection
    return spec.provider.name if spec else None


async def _revoke(
    deps: ServicesDeps, service: Integration, spec: ConnectionSpec, tokens: Tokens
) -> bool:
    if spec.provider.name not in deps.clients:
        return False
    request = spec.provider.build_revocation(deps.clients[spec.provider.name], tokens)
    response = await _send_optional(deps, service, request)
    if response is not None and 200 <= response.status < 300:
        return True
    telemetry.warning("not_revoked", service=service.service)
    return False


async def _send_optional(
    deps: ServicesDeps, service: Integration, request: EgressRequest
) -> EgressResponse | None:
    """Return the response, or None if there is none: the caller can do without."""
    url = requests.with_base_url(account_tokens.get_oauth_client(deps, service), request.url)
    try:
        return await deps.egress.send(replace(request, url=url, timeout_s=requests.TIMEOUT_S))
    except (Unavailable, NotAllowed, TooLarge):
        return None
