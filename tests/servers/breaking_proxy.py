"""Proxy whose connections break: the first stream after a few bytes, each later one after more."""

import httpx
from starlette.requests import Request
from starlette.types import Receive, Scope, Send


class BreakingProxy:
    """Forwards requests to `origin`; `breaks` counts the streams that it cut."""

    def __init__(self, origin: str, *, step: int) -> None:
        self.breaks = 0
        self._origin = origin
        self._step = step

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        url = f"{self._origin}{scope['path']}?{scope['query_string'].decode()}"
        headers = [pair for pair in request.headers.items() if pair[0] != "host"]
        async with httpx.AsyncClient(timeout=60) as client:
            body = await request.body()
            async with client.stream(scope["method"], url, headers=headers, content=body) as answer:
                await self._forward(answer, send)

    async def _forward(self, answer: httpx.Response, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": answer.status_code,
                "headers": [pair for pair in answer.headers.raw if pair[0] != b"content-length"],
            }
        )
        is_stream = "event-stream" in answer.headers["content-type"]
        left = self._step * (self.breaks + 1) if is_stream else None
        async for piece in answer.aiter_raw():
            if left is not None and len(piece) >= left:
                await send(_build_piece(piece[:left]))
                self.breaks += 1
                return  # without an end, so that the server closes the connection
            left = None if left is None else left - len(piece)
            await send(_build_piece(piece))
        await send({"type": "http.response.body", "body": b""})


def _build_piece(piece: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": piece, "more_body": True}
