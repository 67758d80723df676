"""Discovery: where programs learn how they are let in, and the way to the page that asks their owner.

Also called: protected resource metadata, authorization server metadata, well-known URI.
"""

from urllib.parse import quote, urlencode

from starlette.responses import RedirectResponse, Response

from functions.library.programs.challenges import SCOPES, get_resource
from functions.library.programs.mcp_server.description import SERVER_TITLE
from functions.library.programs.oauth.schemas import (
    AuthorizationIn,
    ResourceMetadataOut,
    ServerMetadataOut,
)
from shared.edge.declare.routes import Call, route
from shared.library.deps import LibraryDeps

RESOURCE_METADATA = "/.well-known/oauth-protected-resource"


@route("GET", RESOURCE_METADATA, "Say who lets programs into the MCP server", access="anyone")
async def describe_resource(deps: LibraryDeps, _: Call) -> ResourceMetadataOut:
    return ResourceMetadataOut(
        resource=get_resource(deps.public_url),
        authorization_servers=[deps.public_url],
        scopes_supported=list(SCOPES),
        bearer_methods_supported=["header"],
        resource_name=SERVER_TITLE,
    )


@route(
    "GET",
    "/.well-known/oauth-authorization-server",
    "Say how programs are let in",
    access="anyone",
)
async def describe_server(deps: LibraryDeps, _: Call) -> ServerMetadataOut:
    url = f"{deps.public_url}/v1/mcp"
    return ServerMetadataOut(
        issuer=deps.public_url,
        authorization_endpoint=f"{url}/authorize",
        token_endpoint=f"{url}/token",
        registration_endpoint=f"{url}/register",
        revocation_endpoint=f"{url}/revoke",
        scopes_supported=list(SCOPES),
        response_types_supported=["code"],
        response_modes_supported=["query"],
        grant_types_supported=["authorization_code", "refresh_token"],
        token_endpoint_auth_methods_supported=["none"],
        revocation_endpoint_auth_methods_supported=["none"],
        code_challenge_methods_supported=["S256"],
        client_id_metadata_document_supported=True,
        authorization_response_iss_parameter_supported=True,
    )


@route(
    "GET",
    "/v1/mcp/authorize",
    "Go to the console's page that asks whether a program may be let in",
    access="anyone",
    status=303,
    errors=(422,),
)
async def ask_owner(deps: LibraryDeps, call: Call[None, AuthorizationIn]) -> Response:
    """Lead to the console and nowhere else; only its owner's own request has what is asked looked at."""
    asked = urlencode(call.query.model_dump(exclude_defaults=True))
    return RedirectResponse(
        f"{deps.public_url}/#/connect/{quote(asked, safe='')}",
        status_code=303,
        headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"},
    )


ROUTES = (
    describe_resource,
    describe_resource.at(f"{RESOURCE_METADATA}/v1/mcp"),
    describe_resource.at(f"{RESOURCE_METADATA}/v1/mcp/sse"),
    describe_server,
    ask_owner,
)
