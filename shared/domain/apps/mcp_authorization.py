"""OAuth authorization of MCP servers: how we act at a user's server on their behalf."""

from datetime import datetime
from typing import Literal

from shared.domain.apps.connection import OauthClient, Tokens
from shared.domain.ids import AppId
from shared.domain.value import value

ClientAuthMethod = Literal["nothing", "header", "body"]
"""Where our client's secret stands in a request to the authorization server."""


@value
class McpAccess:
    """Where tokens for a server come from, what they are for (RFC 8707), and who we are there."""

    issuer: str
    token_endpoint: str
    resource: str
    client: OauthClient
    client_in: ClientAuthMethod


@value
class McpAuthorization:
    """A user was sent to allow access, and may come back once, until `expires_at`.

    `verifier` is the secret of PKCE (RFC 7636). If the issuer is named when they come back
    (RFC 9207), it must be `access.issuer`; with `names_issuer` it must be named.
    """

    app_id: AppId
    access: McpAccess
    verifier: str
    names_issuer: bool
    expires_at: datetime


@value
class McpTokens:
    """Tokens for one server, and how to refresh them."""

    access: McpAccess
    tokens: Tokens
