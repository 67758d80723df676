"""Event stream: an answer that is sent while its work runs; the work outlives the connection.

Also called: server-sent events, streaming response.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import aclosing, suppress
from typing import Any

import anyio
from anyio.lowlevel import checkpoint
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

MAX_SILENCE_S = 15.0
"""A heartbeat is sent after this silence: proxies close a connection that is silent for a minute."""

HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
}


class EventStream(Response):
    """An ASGI answer that sends each frame separately while `work` runs beside it.

    A client that disconnects does not stop the work. The request ends with it, so that on Cloud Run
    the instance keeps its CPU until the answer is stored.
    """

    def __init__(
        self,
        frames: AsyncGenerator[bytes, None],
        *,
        heartbeat: bytes,
        work: Callable[[], Coroutine[Any, Any, None]] | None = None,
        headers: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        super().__init__(headers={**HEADERS, **(headers or {})})
        del self.headers["content-length"]
        self._frames = frames
        self._work = work
        self._heartbeat = heartbeat
        self._now = now
        self._sleep = sleep
        self._silent_since: float | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            if self._work is not None:
                tasks.start_soon(self._work)
            heartbeat_scope = anyio.CancelScope()
            tasks.start_soon(self._send_heartbeats, send, heartbeat_scope)
            await checkpoint()  # the work begins before the head of the answer is sent
            try:
                await self._send_frames(send)
            finally:
                heartbeat_scope.cancel()

    async def _send_frames(self, send: Send) -> None:
        with suppress(OSError):  # the client disconnected; the work goes on
            start = {"status": self.status_code, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            self._silent_since = self._now()
            async with aclosing(self._frames) as frames:
                async for frame in frames:
                    self._silent_since = None
                    await send(_build_body_message(frame))
                    self._silent_since = self._now()
            self._silent_since = None
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_heartbeats(self, send: Send, scope: anyio.CancelScope) -> None:
        """Send a heartbeat whenever nothing was sent for MAX_SILENCE_S, and nothing is being sent."""
        with scope, suppress(OSError):
            while True:
                since = self._silent_since
                wait_s = MAX_SILENCE_S if since is None else since + MAX_SILENCE_S - self._now()
                if wait_s > 0:
                    await self._sleep(wait_s)
                else:
                    await send(_build_body_message(self._heartbeat))
                    self._silent_since = self._now()


def _build_body_message(frame: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": frame, "more_body": True}
