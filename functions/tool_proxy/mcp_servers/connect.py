"""How an MCP server becomes an app: asked for its tools, or first for its owner's permission."""

from functions.tool_proxy.apps import access, registration
from functions.tool_proxy.apps.registration import (
    AuthorizationNeeded,
    ManifestFailed,
    Registration,
    declared,
    in_order,
)
from functions.tool_proxy.authorization import away, oauth
from functions.tool_proxy.authorization.away import AUTHORIZED_WITHIN, NotConnected, Returning, Sent
from functions.tool_proxy.calls.results import reason_of
from functions.tool_proxy.mcp_servers import tokens
from functions.tool_proxy.mcp_servers.errors import ProtocolError
from functions.tool_proxy.wiring import ToolProxyDeps
from shared.domain.app import App
from shared.domain.errors import (
    NotAllowed,
    NotFound,
    TooLarge,
    Unavailable,
)
from shared.domain.ids import AppId, UserId
from shared.domain.mcp_grant import McpAuthorization, McpGrant
from shared.domain.value import value

_PURPOSE = "the state of an MCP server's authorization"


@value
class Added:
    """An app, and where its owner was sent to allow access before it has tools; None if nowhere."""

    app: App
    sent: Sent | None = None


async def add(deps: ToolProxyDeps, owner: UserId, asked: Registration) -> Added:
    """Create an app of a server. Raises Conflict, NoManifest and ManifestFailed."""
    app = await registration.new_app(deps, owner, asked)
    try:
        added = Added(app=in_order(deps, declared(app, await registration.fetch(deps, app))))
    except AuthorizationNeeded as needed:
        added = Added(app=app, sent=await _begin(deps, app, needed.challenge))
    await deps.apps.create(added.app)
    return added


async def refresh(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> Added:
    """Ask for the tools again, or for permission. Raises as `registration.refresh`."""
    try:
        return Added(app=await registration.refresh(deps, uid, app_id))
    except AuthorizationNeeded as needed:
        app = await access.owned(deps, uid, app_id)
        return Added(app=app, sent=await _begin(deps, app, needed.challenge))


async def returning(deps: ToolProxyDeps, state: str) -> Returning:
    """Read who comes back. Raises NotConnected for what is no state of ours."""
    return await away.returning(deps.mcp.keys, state, purpose=_PURPOSE)


async def complete(
    deps: ToolProxyDeps, who: Returning, *, code: str | None, iss: str | None
) -> App:
    """Take an owner back who was sent away, each once; then the app has its tools.

    Raises NotConnected, Unavailable and ManifestFailed.
    """
    authorization = await _taken(deps, who)
    _check_issuer(authorization, iss)
    app = await _owned(deps, who.uid, authorization.app_id)
    if not code:
        raise NotConnected(f"{app.name} was not connected: access was not allowed.")
    await _keep_tokens(deps, who.uid, app, authorization, code)
    app = await registration.refresh(deps, who.uid, app.id)
    await access.enable(deps, who.uid, app.id)
    return app


async def _begin(deps: ToolProxyDeps, app: App, challenge: str) -> Sent:
    from functions.tool_proxy.mcp_servers import discovery

    name = deps.new_id()
    server = app.external_integration.mcp_server_url or ""
    try:
        begun = await discovery.begin(
            deps.egress,
            server,
            challenge,
            redirect_uri=deps.mcp.redirect_uri,
            state=await away.state_of(deps.mcp.keys, app.owner, name, purpose=_PURPOSE),
        )
    except (ProtocolError, NotAllowed, TooLarge, Unavailable) as failed:
        reason = reason_of(str(failed))
        raise ManifestFailed(f"The MCP server asks for authorization. {reason}") from failed
    authorization = McpAuthorization(
        app_id=app.id,
        access=begun.access,
        verifier=begun.verifier,
        names_issuer=begun.names_issuer,
        expires_at=deps.clock.now() + AUTHORIZED_WITHIN,
    )
    await deps.mcp.authorizations.add(app.owner, name, authorization)
    return Sent(url=begun.url, authorization_id=name)


async def _taken(deps: ToolProxyDeps, who: Returning) -> McpAuthorization:
    now = deps.clock.now()
    authorization = await deps.mcp.authorizations.take(who.uid, who.authorization_id, now=now)
    if authorization is None:
        raise NotConnected("This link was used already, or it is too old. Please start again.")
    return authorization


def _check_issuer(authorization: McpAuthorization, iss: str | None) -> None:
    """Whoever answers must be whom we asked (RFC 9207): else a code would go to somebody else."""
    if iss is None and not authorization.names_issuer:
        return
    if iss != authorization.access.issuer:
        raise NotConnected("This answer is not from the server that was asked.")


async def _owned(deps: ToolProxyDeps, uid: UserId, app_id: AppId) -> App:
    try:
        return await access.owned(deps, uid, app_id)
    except (NotFound, NotAllowed) as gone:
        raise NotConnected("This app was deleted meanwhile.") from gone


async def _keep_tokens(
    deps: ToolProxyDeps, uid: UserId, app: App, authorization: McpAuthorization, code: str
) -> None:
    try:
        given = await tokens.exchange(
            deps,
            authorization.access,
            grant_type="authorization_code",
            code=code,
            redirect_uri=deps.mcp.redirect_uri,
            code_verifier=authorization.verifier,
        )
    except oauth.Refused as refused:
        raise NotConnected(f"{app.name} was not connected: it did not agree.") from refused
    server = app.external_integration.mcp_server_url or ""
    grant = McpGrant(access=authorization.access, tokens=given)
    await deps.mcp.grants.put(uid, app.id, server, grant)
