"""Real HTTP servers on loopback for tests: what an adapter meets, without the network."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn
from starlette.types import ASGIApp


@contextmanager
def run_server(app: ASGIApp) -> Iterator[str]:
    """Serve `app` on a free port in a thread; yields its url, `http://127.0.0.1:<port>`."""
    with run_server_with_url(lambda _: app) as url:
        yield url


@contextmanager
def run_server_with_url(app: Callable[[str], ASGIApp]) -> Iterator[str]:
    """Serve an app that has to know its url.

    The port listens before the server runs, so that an early request waits instead of failing.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(
            uvicorn.Config(
                app(url),
                log_config=None,
                access_log=False,
                ws="none",
                timeout_graceful_shutdown=1,
            )
        )
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join()
