"""Ports of the tool proxy: the ways to call an app, and to read which tools it offers.

Each has one side over plain HTTP and one over MCP; wiring.py chooses. They stand here, and
not in the folders that use them, because the Deps of every folder name them.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol

from shared.domain.apps.app import App, ChatTool
from shared.domain.apps.tool_data import ToolData
from shared.domain.conversations.place import Geolocation
from shared.domain.ids import UserId
from shared.domain.value import value

TransportName = Literal["http", "mcp"]
WELL_KNOWN_PATH = "/.well-known/omi-tools.json"
"""Where an app's manifest is, unless the app names another address."""


@value
class OutgoingCall:
    """A user's call to a tool of an app; a repeat has the same `call_id`.

    The app knows the user as `app_uid`. `is_first` tells that it is this user's first call in the running hour.
    `place` is where the user is, if apps may know.
    """

    uid: UserId
    app: App
    tool: ChatTool
    app_uid: str
    call_id: str = ""
    is_first: bool = False
    place: Geolocation | None = None


class Transport(Protocol):
    """One way to call an app."""

    def prepare(
        self, call: OutgoingCall, arguments: Mapping[str, Any]
    ) -> Callable[[], Awaitable[ToolData]]:
        """Return what sends the call, once, and returns what the tool says or raises CallFailed.

        Raises ToolRefused for arguments that cannot be sent: nothing has gone out by then.
        """


@value
class ChatMessageSettings:
    """Whether and where an app's notifications become chat messages."""

    enabled: bool = False
    target: Literal["main", "app"] = "app"
    notify: bool = False


@value
class Manifest:
    """An app's usable tools, a reason for each refused one, and chat settings if it declares any."""

    tools: tuple[ChatTool, ...]
    refused_tools: tuple[str, ...]
    chat_messages: ChatMessageSettings | None = None


class ManifestSource(Protocol):
    """One way to read which tools an app offers."""

    async def fetch(self, app: App) -> Manifest:
        """Raises NoManifest and ManifestFailed."""
