"""Connecting MCP servers: a server becomes an app, after its owner authorized access if it asks."""

from collections.abc import Callable

from functions.tool_proxy.accounts.connections import consume_authorization
from functions.tool_proxy.deps import RegistryDeps, ToolProxyDeps
from functions.tool_proxy.mcp_servers import tokens
from functions.tool_proxy.mcp_servers.errors import AuthorizationNeeded, ProtocolError
from functions.tool_proxy.mcp_servers.local_egress import allow_local
from functions.tool_proxy.oauth import requests
from functions.tool_proxy.oauth import state as oauth_state
from functions.tool_proxy.oauth.state import (
    AUTHORIZATION_TTL,
    AuthorizationRedirect,
    CallbackState,
    NotConnected,
)
from functions.tool_proxy.registry import access, registration
from functions.tool_proxy.registry.app_addresses import check_addresses
from functions.tool_proxy.registry.app_names import require_unreserved_name
from functions.tool_proxy.registry.registration import apply_manifest, mark_verified
from shared.domain.apps.app import App
from shared.domain.apps.mcp_authorization import McpAuthorization, McpTokens
from shared.domain.errors import ManifestFailed, NotAllowed, NotFound, TooLarge, Unavailable
from shared.domain.ids import AppId, UserId
from shared.domain.value import value
from shared.outbound.untrusted_text import sanitize_reason
from shared.security.tool_pin import build_grants

_STATE_PURPOSE = "the state of an MCP server's authorization"


@value
class ConnectResult:
    """An app, and where its owner has to allow access before it has tools, if anywhere."""

    app: App
    redirect: AuthorizationRedirect | None = None


async def add(
    deps: RegistryDeps, owner: UserId, describe: Callable[[App], App], *, may_be_local: bool
) -> ConnectResult:
    """Create an app for a server.

    Raises Conflict, Invalid for a reserved name, LocalAddress, NoManifest and ManifestFailed.
    """
    app = describe(await registration.build_app(deps, owner))
    require_unreserved_name(app.name)
    app = check_addresses(deps.egress, app, may_be_local=may_be_local)
    try:
        manifest = await registration.fetch_manifest(deps, app)
        result = ConnectResult(app=mark_verified(deps, apply_manifest(app, manifest)))
    except AuthorizationNeeded as authorization_needed:
        redirect = await _start_authorization(deps, app, authorization_needed.challenge)
        result = ConnectResult(app=app, redirect=redirect)
    await deps.stores.apps.create(result.app)
    return result


async def refresh(deps: RegistryDeps, uid: UserId, app_id: AppId) -> ConnectResult:
    """List the tools again, or ask the owner to authorize. Raises as registration.refresh_manifest."""
    try:
        return ConnectResult(app=await registration.refresh_manifest(deps, uid, app_id))
    except AuthorizationNeeded as authorization_needed:
        app = await access.require_owned(deps, uid, app_id)
        redirect = await _start_authorization(deps, app, authorization_needed.challenge)
        return ConnectResult(app=app, redirect=redirect)


async def verify_state(deps: ToolProxyDeps, state: str) -> CallbackState:
    """Read which user comes back. Raises NotConnected for a state that is not ours."""
    return await oauth_state.verify_state(deps.mcp.keys, state, purpose=_STATE_PURPOSE)


async def complete(
    deps: RegistryDeps, callback: CallbackState, *, code: str | None, iss: str | None
) -> App:
    """Store the tokens of an owner who comes back, list the tools and install the app; works once.

    The tools of an app that is installed already and had some are not granted anew: what the server
    changed meanwhile asks.

    Raises NotConnected, Unavailable and ManifestFailed.
    """
    authorization = await consume_authorization(deps.mcp, callback)
    _check_issuer(authorization, iss)
    app = await _require_owned(deps, callback.uid, authorization.app_id)
    if not code:
        raise NotConnected(f"{app.name} was not connected: access was not allowed.")
    await _store_tokens(deps, callback.uid, app, authorization, code)
    had_tools = bool(app.chat_tools)
    app = await registration.refresh_manifest(deps, callback.uid, app.id)
    if not had_tools:
        await deps.stores.grants.replace_source(callback.uid, app.source, build_grants(app))
    await access.install(deps, callback.uid, app.id)
    return app


async def _start_authorization(
    deps: ToolProxyDeps, app: App, challenge: str
) -> AuthorizationRedirect:
    from functions.tool_proxy.mcp_servers import discovery

    authorization_id = deps.new_id()
    state = await oauth_state.issue_state(
        deps.mcp.keys, app.owner, authorization_id, purpose=_STATE_PURPOSE
    )
    server_url = app.external_integration.mcp_server_url or ""
    try:
        start = await discovery.start_authorization(
            allow_local(deps.mcp, app).egress,
            server_url,
            challenge,
            redirect_uri=deps.mcp.redirect_uri,
            state=state,
        )
    except (ProtocolError, NotAllowed, TooLarge, Unavailable) as failure:
        reason = sanitize_reason(str(failure))
        raise ManifestFailed(f"The MCP server asks for authorization. {reason}") from failure
    authorization = McpAuthorization(
        app_id=app.id,
        access=start.access,
        verifier=start.verifier,
        names_issuer=start.names_issuer,
        expires_at=deps.clock.now() + AUTHORIZATION_TTL,
    )
    await deps.mcp.authorizations.add(app.owner, authorization_id, authorization)
    return AuthorizationRedirect(url=start.url, authorization_id=authorization_id)


def _check_issuer(authorization: McpAuthorization, iss: str | None) -> None:
    """Check that the server that was asked answers (RFC 9207): no other may get the code."""
    if iss is None and not authorization.names_issuer:
        return
    if iss != authorization.access.issuer:
        raise NotConnected("This answer is not from the server that was asked.")


async def _require_owned(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    try:
        return await access.require_owned(deps, uid, app_id)
    except (NotFound, NotAllowed) as error:
        raise NotConnected("This app was deleted meanwhile.") from error


async def _store_tokens(
    deps: ToolProxyDeps, uid: UserId, app: App, authorization: McpAuthorization, code: str
) -> None:
    try:
        new_tokens = await tokens.exchange(
            allow_local(deps.mcp, app),
            authorization.access,
            grant_type="authorization_code",
            code=code,
            redirect_uri=deps.mcp.redirect_uri,
            code_verifier=authorization.verifier,
        )
    except requests.OAuthError as refusal:
        raise NotConnected(f"{app.name} was not connected: it did not agree.") from refusal
    server = app.external_integration.mcp_server_url or ""
    mcp_tokens = McpTokens(access=authorization.access, tokens=new_tokens)
    await deps.mcp.tokens.put(uid, app.id, mcp_tokens, audience=server)
