"""Errors of MCP servers, beside those of any other server."""

from shared.domain.errors import KeepsakeError, ManifestFailed


class ProtocolError(KeepsakeError):
    """The server does not follow MCP, or refuses a request; the message may be its own words."""


class Unauthorized(KeepsakeError):
    """The server asks for a token, or for another; `challenge` is its WWW-Authenticate header."""

    def __init__(self, challenge: str) -> None:
        super().__init__("The server asks for authorization.")
        self.challenge = challenge


class AuthorizationNeeded(ManifestFailed):
    """The server lists no tools without a token; `challenge` is its WWW-Authenticate header."""

    def __init__(self, challenge: str) -> None:
        super().__init__("The MCP server asks for authorization.")
        self.challenge = challenge
