"""Link to a server, or to one of several, that delays what it carries and resets connections."""

import socket
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random

import anyio
from anyio.abc import SocketAttribute, SocketStream

MAX_PIECES = 8
MAX_PIECES_OF_LONG_CONNECTIONS = 600
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER without a wait: closing resets the connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Faults of a link. `reset_share` of its connections are reset after a few pieces, all others after hundreds."""

    min_delay_s: float = 0.02
    max_delay_s: float = 0.2
    reset_share: float = 0.1


@dataclass(slots=True)
class FaultyLink:
    """Carries each connection to one of `target_ports`; without `faults` as it comes."""

    target_ports: Sequence[int]
    random: Random
    faults: Faults | None
    port: int = 0
    reset_count: int = 0

    async def carry(self, near: SocketStream) -> None:
        with suppress(OSError, anyio.BrokenResourceError):
            async with (
                near,
                await anyio.connect_tcp("127.0.0.1", self.random.choice(self.target_ports)) as far,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(self._copy, near, far, None)
                await self._copy(far, near, self._draw_limit())
                tasks.cancel_scope.cancel()

    def _draw_limit(self) -> int | None:
        if self.faults is None:
            return None
        is_short = self.random.random() < self.faults.reset_share
        most = MAX_PIECES if is_short else MAX_PIECES_OF_LONG_CONNECTIONS
        return self.random.randrange(1 if is_short else MAX_PIECES, most)

    async def _copy(self, source: SocketStream, target: SocketStream, limit: int | None) -> None:
        """Copy until the end, or reset the target after `limit` pieces."""
        count = 0
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for piece in source:
                await self._delay()
                if count == limit:
                    self.reset_count += reset(target)
                    return
                await target.send(piece)
                count += 1

    async def _delay(self) -> None:
        if self.faults is not None:
            delay_s = self.random.uniform(self.faults.min_delay_s, self.faults.max_delay_s)
            await anyio.sleep(delay_s)


def reset(stream: SocketStream) -> bool:
    """Let the stream's end be a reset; return whether there was a connection: its client may have gone."""
    try:
        stream.extra(SocketAttribute.raw_socket).setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, _RESET
        )
    except OSError:
        return False
    return True


@asynccontextmanager
async def open_link(
    target_ports: Sequence[int], random: Random, faults: Faults | None, *, port: int = 0
) -> AsyncIterator[FaultyLink]:
    """Yield a link that listens on a loopback port, of its own unless one is given."""
    link = FaultyLink(target_ports, random, faults)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    link.port = listener.extra(SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, link.carry)
        yield link
        tasks.cancel_scope.cancel()
