"""A server that says exactly what a test writes, and the little internet it stands in."""

import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import httpcore
import httpx

Script = Callable[[Event], Iterable[bytes]]
"""What to say, piece by piece; the event is set once the server stops."""


@dataclass
class RawServer:
    """Listens on loopback; `heard` holds the first bytes of each connection, `names` their SNI."""

    port: int
    heard: list[bytes] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def saying(*pieces: bytes) -> Script:
    return lambda _: pieces


@contextmanager
def answering(script: Script, *, tls: ssl.SSLContext | None = None) -> Iterator[RawServer]:
    """Serve every connection by `script`, in a thread; a client may leave at any time."""
    stopped = Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = RawServer(port=listening.getsockname()[1])
        if tls is not None:
            tls.sni_callback = lambda _, name, __: server.names.append(name)
        thread = Thread(target=_serve, args=(listening, server, script, tls, stopped), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            stopped.set()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(
    listening: socket.socket,
    server: RawServer,
    script: Script,
    tls: ssl.SSLContext | None,
    stopped: Event,
) -> None:
    while not stopped.is_set():
        with suppress(OSError):  # the client left, or the port closed
            client, _ = listening.accept()
            with client:
                _answer(client, server, script(stopped), tls)


def _answer(
    client: socket.socket, server: RawServer, pieces: Iterable[bytes], tls: ssl.SSLContext | None
) -> None:
    if tls is not None:
        client = tls.wrap_socket(client, server_side=True)
    with client:
        server.heard.append(client.recv(65_536))
        for piece in pieces:
            client.sendall(piece)
        client.shutdown(socket.SHUT_WR)
        while client.recv(65_536):  # unread bytes would make the close a reset
            pass


def internet(
    servers: Mapping[str, RawServer], *, trusting: ssl.SSLContext | None = None
) -> httpx.AsyncHTTPTransport:
    """Return a transport over which each address leads to its server here, and others nowhere."""
    transport = httpx.AsyncHTTPTransport()
    transport._pool = httpcore.AsyncConnectionPool(
        ssl_context=trusting, network_backend=_Roads(servers)
    )
    return transport


class _Roads(httpcore.AnyIOBackend):
    def __init__(self, servers: Mapping[str, RawServer]) -> None:
        self._servers = servers

    async def connect_tcp(
        self, host: str, port: int, *args: Any, **kwargs: Any
    ) -> httpcore.AsyncNetworkStream:
        if host not in self._servers:
            raise httpcore.ConnectError(f"no way to {host}")
        return await super().connect_tcp("127.0.0.1", self._servers[host].port, *args, **kwargs)
