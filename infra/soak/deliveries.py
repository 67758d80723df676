"""Deliveries of a soak: what the platform carries arrives at least once, some of it late, some again."""

import asyncio
from dataclasses import dataclass, field
from random import Random

import httpx
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

LATE_SHARE = 0.2
REPEAT_SHARE = 0.25
MAX_PAUSE_S = 9.0
FIRST_RETRY_S, MAX_RETRY_S = 1.0, 60.0
"""The back-off of our subscriptions."""
TIMEOUT_S = 600.0


@dataclass(slots=True)
class Deliveries:
    """ASGI application that takes messages for another one, and passes each on until it succeeds."""

    random: Random
    application: ASGIApp | None = None
    waiting_count: int = 0
    late_count: int = 0
    repeat_count: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def wrap(self, application: ASGIApp) -> "Deliveries":
        """Take the messages of an application."""
        self.application = application
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.application is not None, "wrap() set it"
        if scope["type"] != "http":
            return await self.application(scope, receive, send)
        request = Request(scope, receive)
        message = httpx.Request(
            request.method,
            f"http://relay{request.url.path}",
            headers=request.headers.raw,
            content=await request.body(),
        )
        self.waiting_count += 1
        task = asyncio.create_task(self._deliver(message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await Response(status_code=204)(scope, receive, send)

    async def _deliver(self, message: httpx.Request) -> None:
        if self.random.random() < LATE_SHARE:
            self.late_count += 1
            await self._pause()
        await self._deliver_until_done(message)
        if self.random.random() < REPEAT_SHARE:
            self.repeat_count += 1
            await self._pause()
            await self._deliver_until_done(message)
        self.waiting_count -= 1

    async def _pause(self) -> None:
        await asyncio.sleep(self.random.uniform(0, MAX_PAUSE_S))

    async def _deliver_until_done(self, message: httpx.Request) -> None:
        pause_s = FIRST_RETRY_S
        assert self.application is not None, "a message has come"
        transport = httpx.ASGITransport(self.application)
        async with httpx.AsyncClient(transport=transport, timeout=TIMEOUT_S) as http:
            while not (await http.send(message)).is_success:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, MAX_RETRY_S)
