"""The MCP SDK's requests, sent through the guard.

The SDK takes half a second to load; what imports this module is imported with the first use of it.
"""

import logging

import httpx2

from functions.tool_proxy.mcp_servers.errors import Unauthorized
from shared.domain.errors import KeepsakeError, TooLarge
from shared.ports import Egress, EgressRequest

logging.getLogger("mcp").setLevel(logging.CRITICAL)  # its warnings quote what servers send

MAX_REQUESTS = 24
"""Of one exchange: a server may ask back in each of its answers."""
_REQUEST_HEADERS = ("accept", "authorization", "content-type")
_RESPONSE_HEADERS = ("content-type", "location", "mcp-session-id", "www-authenticate")


class EgressTransport(httpx2.AsyncBaseTransport):
    """Hands each request to the Egress port; answers come back whole and bounded.

    The SDK buries what is raised in its tasks, so the first failure is kept in `failure`, and after
    it nothing leaves any more. A server's own streams are refused here: nobody would read them.
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
        """Another may have come first while this one was waiting."""
        self.failure = self.failure or failure

    async def _send_counted(self, request: httpx2.Request) -> httpx2.Response:
        self._requests_left -= 1
        if self._requests_left < 0:
            raise TooLarge(f"The server sent us more than {MAX_REQUESTS} requests.")
        answer = await send(self._egress, request, timeout_s=self._timeout_s)
        if answer.status_code == 401:
            raise Unauthorized(answer.headers.get("www-authenticate", ""))
        return answer


async def send(egress: Egress, request: httpx2.Request, *, timeout_s: float) -> httpx2.Response:
    """Send a request as the SDK builds it. Raises what Egress raises."""
    answer = await egress.send(
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
        (n.encode(), answer.headers[n].encode()) for n in _RESPONSE_HEADERS if n in answer.headers
    ]
    return httpx2.Response(answer.status, headers=headers, content=answer.body, request=request)
