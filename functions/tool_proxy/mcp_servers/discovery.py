"""Discovery of an MCP server's authorization server, and our registration as a client there.

It uses parts of the official SDK and sends each request through Egress. The SDK takes half a second
to load, so this module is imported with the first server that asks for authorization.

Also called: dynamic client registration, OAuth discovery.
"""

from urllib.parse import urlsplit

import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.client.auth.oauth2 import PKCEParameters, check_registration_usable
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_client_registration_request,
    create_oauth_metadata_request,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    handle_registration_response,
    issuers_match,
)
from mcp.shared.auth import (
    DEFAULT_GRANT_TYPES,
    OAuthClientMetadata,
    OAuthMetadata,
    ProtectedResourceMetadata,
)
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import AnyUrl

from functions.tool_proxy.mcp_servers.egress_transport import send
from functions.tool_proxy.mcp_servers.errors import ProtocolError
from shared.domain.apps.connection import OauthClient
from shared.domain.apps.mcp_authorization import ClientAuthMethod, McpAccess
from shared.domain.value import value
from shared.ports import Egress

TIMEOUT_S = 10
_CLIENT_AUTH_METHODS: dict[str | None, ClientAuthMethod] = {
    None: "header",
    "client_secret_basic": "header",
    "client_secret_post": "body",
    "none": "nothing",
}


@value
class AuthorizationStart:
    """Where the user allows access, and what is needed to complete it when they come back."""

    url: str
    access: McpAccess
    verifier: str
    names_issuer: bool


async def start_authorization(
    egress: Egress, server_url: str, challenge: str, *, redirect_uri: str, state: str
) -> AuthorizationStart:
    """Find the server's authorization server and register there.

    Raises ProtocolError if one of them does not follow the protocol, and the errors of Egress.
    """
    try:
        return await _discover_and_register(
            egress, server_url, challenge, redirect_uri=redirect_uri, state=state
        )
    except (httpx2.InvalidURL, ValueError) as error:
        raise ProtocolError("It names an address that is none.") from error


async def _discover_and_register(
    egress: Egress, server_url: str, challenge: str, *, redirect_uri: str, state: str
) -> AuthorizationStart:
    challenge_response = httpx2.Response(401, headers=[(b"www-authenticate", challenge.encode())])
    resource = await _fetch_resource_metadata(egress, server_url, challenge_response)
    issuer = str(resource.authorization_servers[0]) if resource else None
    metadata = await _fetch_server_metadata(egress, issuer, server_url)
    scope = get_client_metadata_scopes(
        extract_scope_from_www_auth(challenge_response),
        resource,
        metadata,
        list(DEFAULT_GRANT_TYPES),
    )
    client, client_in = await _register_client(egress, metadata, redirect_uri, scope)
    access = McpAccess(
        issuer=str(metadata.issuer),
        token_endpoint=str(metadata.token_endpoint),
        resource=str(resource.resource) if resource else resource_url_from_server_url(server_url),
        client=client,
        client_in=client_in,
    )
    return _build_start(metadata, access, redirect_uri=redirect_uri, scope=scope, state=state)


def _build_start(
    metadata: OAuthMetadata,
    access: McpAccess,
    *,
    redirect_uri: str,
    scope: str | None,
    state: str,
) -> AuthorizationStart:
    proof = PKCEParameters.generate()
    url = _build_authorize_url(
        str(metadata.authorization_endpoint),
        client_id=access.client.id,
        redirect_uri=redirect_uri,
        scope=scope,
        resource=access.resource,
        state=state,
        code_challenge=proof.code_challenge,
    )
    return AuthorizationStart(
        url=url,
        access=access,
        verifier=proof.code_verifier,
        names_issuer=metadata.authorization_response_iss_parameter_supported is True,
    )


async def _fetch_resource_metadata(
    egress: Egress, server_url: str, challenge_response: httpx2.Response
) -> ProtectedResourceMetadata | None:
    """Return the server's metadata (RFC 9728); None from servers older than that."""
    metadata_url = extract_resource_metadata_from_www_auth(challenge_response)
    for url in build_protected_resource_metadata_discovery_urls(metadata_url, server_url):
        request = create_oauth_metadata_request(url)
        metadata = await handle_protected_resource_response(
            await send(egress, request, timeout_s=TIMEOUT_S)
        )
        if metadata is None:
            continue
        server_resource = resource_url_from_server_url(server_url)
        if not check_resource_allowed(server_resource, str(metadata.resource)):
            raise ProtocolError("It speaks for another server.")
        return metadata
    return None


async def _fetch_server_metadata(
    egress: Egress, issuer: str | None, server_url: str
) -> OAuthMetadata:
    """Return the authorization server's metadata (RFC 8414), if it is acceptable."""
    expected = issuer or _get_origin(server_url)
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, server_url):
        request = create_oauth_metadata_request(url)
        can_continue, metadata = await handle_auth_metadata_response(
            await send(egress, request, timeout_s=TIMEOUT_S)
        )
        if metadata is not None:
            _check_metadata(metadata, expected)
            return metadata
        if not can_continue:
            break
    raise ProtocolError("Its authorization server does not describe itself.")


def _check_metadata(metadata: OAuthMetadata, expected: str) -> None:
    if not issuers_match(str(metadata.issuer), expected):
        raise ProtocolError("Its authorization server goes by another name.")
    if "S256" not in (metadata.code_challenge_methods_supported or ()):
        raise ProtocolError("Its authorization server does not support PKCE.")
    if metadata.registration_endpoint is None:
        raise ProtocolError("Its authorization server lets no client register.")
    page = metadata.authorization_endpoint
    if page.scheme != "https" and _get_origin(str(page)) != _get_origin(str(metadata.issuer)):
        raise ProtocolError("Its authorization server's page is not at an https:// address.")


async def _register_client(
    egress: Egress, metadata: OAuthMetadata, redirect_uri: str, scope: str | None
) -> tuple[OauthClient, ClientAuthMethod]:
    """Register as a client (RFC 7591); returns the client and how it authenticates."""
    client_metadata = OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect_uri)],
        client_name="Keepsake",
        application_type="web",
        scope=scope,
    )
    request = create_client_registration_request(metadata, client_metadata, str(metadata.issuer))
    response = await send(egress, request, timeout_s=TIMEOUT_S)
    try:
        client = await handle_registration_response(response)
        check_registration_usable(client)
    except OAuthFlowError as refusal:
        raise ProtocolError("Its authorization server does not register us.") from refusal
    oauth_client = OauthClient(id=client.client_id, secret=client.client_secret or "")
    method = _CLIENT_AUTH_METHODS[client.token_endpoint_auth_method]
    return oauth_client, method if oauth_client.secret else "nothing"


def _build_authorize_url(page: str, **fields: str | None) -> str:
    scope = fields["scope"] or ""
    prompt = {"prompt": "consent"} if "offline_access" in scope.split() else {}
    params = {
        "response_type": "code",
        "code_challenge_method": "S256",
        **{name: value for name, value in fields.items() if value},
        **prompt,
    }
    return str(httpx2.URL(page).copy_merge_params(params))


def _get_origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
