"""Tokens for a user's MCP server."""

from datetime import datetime
from typing import Literal

from shared.domain.connection import OauthClient, Tokens
from shared.domain.ids import AppId
from shared.domain.value import value


@value
class McpAccess:
    """Where tokens for a server come from, what they are for (RFC 8707), and who we are there."""

    issuer: str
    token_endpoint: str
    resource: str
    client: OauthClient
    client_in: Literal["nothing", "header", "body"]


@value
class McpAuthorization:
    """A user was sent to allow access, and may come back once, until `expires_at`.

    `verifier` is the secret of PKCE (RFC 7636). Where the issuer is named when they come back
    (RFC 9207), it must be `access.issuer`; with `names_issuer` it must be named.
    """

    app_id: AppId
    access: McpAccess
    verifier: str
    names_issuer: bool
    expires_at: datetime


@value
class McpTokens:
    """Tokens for one server, and how to renew them; `version` changes whenever they are replaced."""

    access: McpAccess
    tokens: Tokens
    version: str = ""
