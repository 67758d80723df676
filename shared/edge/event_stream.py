"""An answer that streams while work goes on; the work outlives the connection."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing
from typing import Any

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
}


class EventStream(Response):
    """An ASGI answer: sends each frame by itself while `work` runs beside it.

    Nobody listens for the client's leaving: the request ends when the work has ended, so that on
    Cloud Run the instance keeps its CPU until the answer is stored.
    """

    def __init__(
        self,
        frames: AsyncGenerator[bytes, None],
        *,
        work: Callable[[], Coroutine[Any, Any, None]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(headers={**HEADERS, **(headers or {})})
        del self.headers["content-length"]
        self._frames = frames
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            if self._work is not None:
                tasks.start_soon(self._work)
            await self._send(send)

    async def _send(self, send: Send) -> None:
        try:
            start = {"status": self.status_code, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            async with aclosing(self._frames) as frames:
                async for frame in frames:
                    await send({"type": "http.response.body", "body": frame, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except OSError:
            return  # the client is gone; the work goes on
