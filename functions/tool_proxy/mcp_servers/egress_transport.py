"""Egress transport: the HTTP requests of the MCP SDK, sent through Egress.

The SDK takes half a second to load: import this module only where it is used.
"""

import logging

import httpx2

from functions.tool_proxy.mcp_servers.errors import Unauthorized
from shared.domain.errors import KeepsakeError, TooLarge
from shared.ports import Egress, EgressRequest

logging.getLogger("mcp").setLevel(logging.CRITICAL)  # its warnings quote what servers send

MAX_REQUESTS = 24
"""In one exchange: a server may ask back in each of its answers."""
_REQUEST_HEADERS = ("accept", "authorization", "content-type")
_RESPONSE_HEADERS = ("content-type", "location", "mcp-session-id", "www-authenticate")


class EgressTransport(httpx2.AsyncBaseTransport):
    """Sends each request through the Egress port, which returns bounded responses.

    The SDK hides errors that are raised in its tasks. So the first one is kept in `failure`, and no
    request is sent after it. Streams that a server opens itself are refused: nothing reads them.
    """

    def __init__(self, egress: Egress, *, timeout_s: float) -> None:
        self._egress = egress
        self._timeout_s = timeout_s
        self._requests_left = MAX_REQUESTS
        self.failure: KeepsakeError | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.failure is not None:
            raise self.failure
        if "text/event-stream" in request.headers.get("accept", "") and request.method == "GET":
            return httpx2.Response(405)
        try:
            return await self._send_counted(request)
        except KeepsakeError as failure:
            self._record_failure(failure)
            raise

    def _record_failure(self, failure: KeepsakeError) -> None:
        """Keep the first failure: requests run concurrently."""
        self.failure = self.failure or failure

    async def _send_counted(self, request: httpx2.Request) -> httpx2.Response:
        self._requests_left -= 1
        if self._requests_left < 0:
            raise TooLarge(f"The server sent us more than {MAX_REQUESTS} requests.")
        response = await send(self._egress, request, timeout_s=self._timeout_s)
        if response.status_code == 401:
            raise Unauthorized(response.headers.get("www-authenticate", ""))
        return response


async def send(egress: Egress, request: httpx2.Request, *, timeout_s: float) -> httpx2.Response:
    """Send a request of the SDK. Raises the errors of Egress."""
    response = await egress.send(
        EgressRequest(
            method=request.method,
            url=str(request.url),
            headers={
                name: header_value
                for name, header_value in request.headers.items()
                if name in _REQUEST_HEADERS or name.startswith("mcp-")
            },
            body=await request.aread() or None,
            timeout_s=timeout_s,
        )
    )
    headers = [
        (name.encode(), response.headers[name].encode())
        for name in _RESPONSE_HEADERS
        if name in response.headers
    ]
    return httpx2.Response(response.status, headers=headers, content=response.body, request=request)
