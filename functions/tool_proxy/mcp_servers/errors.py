"""What goes wrong with MCP servers beside what goes wrong with any other."""

from shared.domain.errors import KeepsakeError


class ProtocolError(KeepsakeError):
    """The server does not speak MCP, or refuses what was asked; the message may be its own words."""


class Unauthorized(KeepsakeError):
    """The server wants a token, or another one; `challenge` is its WWW-Authenticate, perhaps empty."""

    def __init__(self, challenge: str) -> None:
        super().__init__("The server asks for authorization.")
        self.challenge = challenge
