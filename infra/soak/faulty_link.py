"""Link to a server that delays what it carries, and resets connections."""

import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random

import anyio
from anyio.abc import SocketAttribute, SocketStream

MIN_DELAY_S, MAX_DELAY_S = 0.02, 0.2
RESET_SHARE = 0.1
MAX_PIECES = 8
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER without a wait: closing resets the connection."""


@dataclass(slots=True)
class FaultyLink:
    """Carries connections to `target_port`; one in ten is reset after a few pieces."""

    target_port: int
    random: Random
    port: int = 0
    reset_count: int = 0

    async def carry(self, near: SocketStream) -> None:
        is_reset = self.random.random() < RESET_SHARE
        limit = self.random.randrange(1, MAX_PIECES) if is_reset else None
        with suppress(OSError, anyio.BrokenResourceError):
            async with (
                near,
                await anyio.connect_tcp("127.0.0.1", self.target_port) as far,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(self._copy, near, far, None)
                await self._copy(far, near, limit)
                tasks.cancel_scope.cancel()

    async def _copy(self, source: SocketStream, target: SocketStream, limit: int | None) -> None:
        """Copy until the end, or reset the target after `limit` pieces."""
        count = 0
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for piece in source:
                await anyio.sleep(self.random.uniform(MIN_DELAY_S, MAX_DELAY_S))
                if count == limit:
                    self._reset(target)
                    return
                await target.send(piece)
                count += 1

    def _reset(self, stream: SocketStream) -> None:
        self.reset_count += 1
        stream.extra(SocketAttribute.raw_socket).setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, _RESET
        )


@asynccontextmanager
async def open_faulty_link(target_port: int, random: Random) -> AsyncIterator[FaultyLink]:
    """Yield a link that listens on a loopback port of its own."""
    link = FaultyLink(target_port, random)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    link.port = listener.extra(SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, link.carry)
        yield link
        tasks.cancel_scope.cancel()
