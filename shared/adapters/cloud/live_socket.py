"""Sockets to providers that hear streams: opened with a key, with their failures in our words."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from shared.domain.errors import ModelFailed, Unavailable

MAX_MESSAGE_BYTES = 1_048_576
OPEN_TIMEOUT_S = 10.0


class LiveSocket:
    """A connection to a provider, which speaks JSON."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def send(self, content: bytes | Mapping[str, Any]) -> None:
        """Send sound, or an object as JSON. Raises Unavailable."""
        try:
            await self._connection.send(
                content if isinstance(content, bytes) else json.dumps(content)
            )
        except ConnectionClosed as error:
            raise Unavailable("The provider of live speech closed the connection") from error

    async def iterate(self) -> AsyncIterator[bytes | str]:
        """Yield what the provider says until it closes in good order. Raises Unavailable."""
        try:
            async for message in self._connection:
                yield message
        except ConnectionClosed as error:
            raise Unavailable("The provider of live speech broke the connection") from error


@asynccontextmanager
async def open_live_socket(
    url: str, headers: Mapping[str, str], *, key_name: str
) -> AsyncIterator[LiveSocket]:
    """Connect, and close in the end. Raises Unavailable, and ModelFailed for what only its owner can change."""
    try:
        connection = await connect(
            url,
            additional_headers=headers,
            max_size=MAX_MESSAGE_BYTES,
            open_timeout=OPEN_TIMEOUT_S,
            proxy=None,
        )
    except InvalidStatus as error:
        raise _explain(error.response.status_code, key_name) from error
    except (OSError, TimeoutError, WebSocketException) as error:
        raise Unavailable("The provider of live speech does not answer") from error
    async with connection:
        yield LiveSocket(connection)


def _explain(status: int, key_name: str) -> ModelFailed | Unavailable:
    if status in (401, 403):
        text = f"The provider of live speech refused the key: check {key_name}."
        return ModelFailed(text, reason="refused_key")
    if status in (400, 404):
        text = "The provider of live speech does not take this model or language."
        return ModelFailed(text, reason="unknown_model")
    return Unavailable(f"The provider of live speech answered {status}")
