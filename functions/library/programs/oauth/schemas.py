"""Schemas of OAuth: what programs send and read, and what their owner decides."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from functions.library.programs.oauth.redirect_uris import is_acceptable
from shared.domain.account.api_key import KeyScope
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import Utc
from shared.security.visible_text import write_name

MAX_CLIENT_ID_CHARS = 8_000
MAX_NAME_CHARS = 100
MAX_REDIRECT_URIS = 10
NAMELESS = "A program without a name"
Text = Annotated[str, StringConstraints(max_length=2_000)]


def _clean_name(name: object) -> object:
    """Return a name as one short line of what can be seen, with a letter or a digit at least."""
    if not isinstance(name, str):
        return name
    line = write_name(name)[:MAX_NAME_CHARS]
    return line if any(map(str.isalnum, line)) else NAMELESS


def _check_address(uri: str) -> str:
    if not is_acceptable(uri):
        raise ValueError("a redirect address is https, or on the user's own machine")
    return uri


ProgramName = Annotated[str, BeforeValidator(_clean_name)]
RedirectUri = Annotated[str, AfterValidator(_check_address)]


class RegistrationIn(Wire):
    """A program as it registers (RFC 7591)."""

    client_name: ProgramName = NAMELESS
    redirect_uris: Annotated[list[RedirectUri], Field(min_length=1, max_length=MAX_REDIRECT_URIS)]


class ClientDocumentIn(Wire):
    """A program as its client id document describes it; `client_id` is the document's own address."""

    client_id: str
    client_name: ProgramName
    redirect_uris: Annotated[list[RedirectUri], Field(min_length=1, max_length=MAX_REDIRECT_URIS)]
    token_endpoint_auth_method: Literal["none"] | None = None


class RegistrationOut(Wire):
    client_id: str
    client_id_issued_at: int
    client_name: str
    redirect_uris: list[str]
    grant_types: list[str]
    response_types: list[str]
    token_endpoint_auth_method: str


class AuthorizationIn(Wire):
    """A program's authorization request, as it stood in the address."""

    client_id: Annotated[str, StringConstraints(max_length=MAX_CLIENT_ID_CHARS)] = ""
    redirect_uri: Text = ""
    response_type: Text = ""
    code_challenge: Text = ""
    code_challenge_method: Text = ""
    scope: Text = ""
    state: Text = ""
    resource: Text = ""


class AuthorizationOut(Wire):
    """Who asks for what. `host` is where the answer goes; `document_host` vouches for the name.

    With a `refusal` nothing can be allowed, and `return_url` tells it to the program.
    """

    name: str
    host: str
    is_local: bool
    document_host: str | None
    scope: KeyScope
    refusal: str | None = None
    return_url: str | None = None


class DecisionIn(Wire):
    """What the owner allows: `write` if the program asks for it, `read`, or `nothing`."""

    request: AuthorizationIn
    allows: Literal["write", "read", "nothing"]


class DecisionOut(Wire):
    """Where the browser takes the decision to the program."""

    return_url: str


class ProgramOut(Wire):
    """A connected program; `host` is where its code went."""

    id: str
    name: str
    host: str
    is_local: bool
    scope: KeyScope
    created_at: Utc
    last_used_at: Utc | None
    expires_at: Utc


class TokenIn(Wire):
    """A form of the token endpoint, or of revocation (`token`)."""

    grant_type: Text = ""
    client_id: Annotated[str, StringConstraints(max_length=MAX_CLIENT_ID_CHARS)] = ""
    code: Text = ""
    code_verifier: Text = ""
    redirect_uri: Text = ""
    refresh_token: Text = ""
    token: Text = ""
    resource: Text = ""


class TokenOut(Wire):
    access_token: str
    token_type: str
    expires_in: int
    refresh_token: str
    scope: str


class ResourceMetadataOut(Wire):
    """Who may open the MCP server, and who lets them in (RFC 9728)."""

    resource: str
    authorization_servers: list[str]
    scopes_supported: list[str]
    bearer_methods_supported: list[str]
    resource_name: str


class ServerMetadataOut(Wire):
    """What the authorization server takes, and where (RFC 8414)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str
    revocation_endpoint: str
    scopes_supported: list[str]
    response_types_supported: list[str]
    response_modes_supported: list[str]
    grant_types_supported: list[str]
    token_endpoint_auth_methods_supported: list[str]
    revocation_endpoint_auth_methods_supported: list[str]
    code_challenge_methods_supported: list[str]
    client_id_metadata_document_supported: bool
    authorization_response_iss_parameter_supported: bool
