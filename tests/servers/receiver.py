"""A server that keeps what it is sent, and refuses as often as told."""

from queue import SimpleQueue

import anyio
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PATIENCE_S = 30.0


class Receiver:
    """Takes POSTs anywhere; the first `refusals` are answered 500."""

    def __init__(self, *, refusals: int = 0) -> None:
        self._refusals = refusals
        self._arrived: SimpleQueue[tuple[Headers, bytes]] = SimpleQueue()
        self.app = Starlette(routes=[Route("/{path:path}", self._receive, methods=["POST"])])

    async def next(self) -> tuple[Headers, bytes]:
        """Wait for the next request: its headers and body."""
        return await anyio.to_thread.run_sync(lambda: self._arrived.get(timeout=PATIENCE_S))

    @property
    def is_empty(self) -> bool:
        return self._arrived.empty()

    async def _receive(self, request: Request) -> Response:
        self._arrived.put((request.headers, await request.body()))
        if self._refusals:
            self._refusals -= 1
            return Response(status_code=500)
        return Response(status_code=204)
