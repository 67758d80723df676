"""Real HTTP servers on loopback for tests: what an adapter meets, without the network."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn
from starlette.types import ASGIApp


@contextmanager
def running(app: ASGIApp) -> Iterator[str]:
    """Serve `app` on a free port in a thread; yields its url, `http://127.0.0.1:<port>`.

    The port listens before the server runs, so that an early request waits instead of failing.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                ws="none",
                timeout_graceful_shutdown=1,
            )
        )
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
