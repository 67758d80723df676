"""Server that records requests, and refuses the first ones if asked to."""

from queue import SimpleQueue

import anyio
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

RECEIVE_TIMEOUT_S = 30.0


class Receiver:
    """A server of POST requests on any path; the first `refusals` are answered 500."""

    def __init__(self, *, refusals: int = 0) -> None:
        self._refusals = refusals
        self._requests: SimpleQueue[tuple[Headers, bytes]] = SimpleQueue()
        self.app = Starlette(routes=[Route("/{path:path}", self._receive, methods=["POST"])])

    async def wait_for_request(self) -> tuple[Headers, bytes]:
        """Wait for the next request: its headers and body."""
        return await anyio.to_thread.run_sync(lambda: self._requests.get(timeout=RECEIVE_TIMEOUT_S))

    @property
    def is_empty(self) -> bool:
        return self._requests.empty()

    async def _receive(self, request: Request) -> Response:
        self._requests.put((request.headers, await request.body()))
        if self._refusals:
            self._refusals -= 1
            return Response(status_code=500)
        return Response(status_code=204)
