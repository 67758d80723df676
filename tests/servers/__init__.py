"""Real HTTP servers on loopback for tests: what an adapter meets, without the network."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn
from starlette.types import ASGIApp


@contextmanager
def run_server(app: ASGIApp, *, port: int = 0) -> Iterator[str]:
    """Serve `app` on `port`, or a free one, in a thread; yields its url, `http://127.0.0.1:<port>`."""
    with run_server_with_url(lambda _: app, port=port) as url:
        yield url


@contextmanager
def run_server_with_url(app: Callable[[str], ASGIApp], *, port: int = 0) -> Iterator[str]:
    """Serve an app that has to know its url.

    The port listens before the server runs, so that an early request waits instead of failing.
    """
    with socket.create_server(("127.0.0.1", port), backlog=256) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = PromptServer(
            uvicorn.Config(
                app(url),
                log_config=None,
                access_log=False,
                ws="websockets-sansio",
                timeout_graceful_shutdown=1,
            )
        )
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield url
        finally:
            server.stop()
            thread.join()


class PromptServer(uvicorn.Server):
    """A server that stops at once; uvicorn's own checks ten times a second whether to stop."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Stop after the requests that run; may be called from another thread."""
        self.should_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)

    async def main_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        if not await self.on_tick(0):
            await self._stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in (*self.servers, *(sockets or ())):
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        if running := set(self.server_state.tasks):
            _, late = await asyncio.wait(running, timeout=self.config.timeout_graceful_shutdown)
            for task in late:
                task.cancel()
        for connection in list(self.server_state.connections):  # whose client does not read on
            connection.transport.abort()
        for _ in range(2):  # closes the connections
            await asyncio.sleep(0)
        await self.lifespan.shutdown()
