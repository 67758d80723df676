"""Server that sends exactly the bytes of a test, with its own names and certificates."""

import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import httpcore
import httpx

RawScript = Callable[[Event], Iterable[bytes]]
"""What to say, piece by piece; the event is set once the server stops."""


@dataclass
class RawServer:
    """A listener on loopback; `heard` holds the first bytes of each connection, `names` their SNI."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    sni_names: list[str | None] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def script_bytes(*pieces: bytes) -> RawScript:
    return lambda _: pieces


@contextmanager
def run_raw_server(script: RawScript, *, tls: ssl.SSLContext | None = None) -> Iterator[RawServer]:
    """Serve every connection by `script`, in a thread; a client may leave at any time."""
    stop_event = Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = RawServer(port=listener.getsockname()[1])
        if tls is not None:
            tls.sni_callback = lambda _, name, __: server.sni_names.append(name)
        thread = Thread(
            target=_serve, args=(listener, server, script, tls, stop_event), daemon=True
        )
        thread.start()
        try:
            yield server
        finally:
            stop_event.set()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(
    listener: socket.socket,
    server: RawServer,
    script: RawScript,
    tls: ssl.SSLContext | None,
    stop_event: Event,
) -> None:
    while not stop_event.is_set():
        with suppress(OSError):  # the client left, or the port closed
            client, _ = listener.accept()
            with client:
                _answer(client, server, script(stop_event), tls)


def _answer(
    client: socket.socket, server: RawServer, pieces: Iterable[bytes], tls: ssl.SSLContext | None
) -> None:
    if tls is not None:
        client = tls.wrap_socket(client, server_side=True)
    with client:
        server.requests.append(client.recv(65_536))
        for piece in pieces:
            client.sendall(piece)
        client.shutdown(socket.SHUT_WR)
        while client.recv(65_536):  # unread bytes would make the close a reset
            pass


def build_routed_transport(
    servers: Mapping[str, RawServer], *, tls_context: ssl.SSLContext | None = None
) -> httpx.AsyncHTTPTransport:
    """Return a transport that connects each listed address to its server here, and no other address."""
    transport = httpx.AsyncHTTPTransport()
    transport._pool = httpcore.AsyncConnectionPool(
        ssl_context=tls_context, network_backend=_RoutedBackend(servers)
    )
    return transport


class _RoutedBackend(httpcore.AnyIOBackend):
    def __init__(self, servers: Mapping[str, RawServer]) -> None:
        self._servers = servers

    async def connect_tcp(
        self, host: str, port: int, *args: Any, **kwargs: Any
    ) -> httpcore.AsyncNetworkStream:
        if host not in self._servers:
            raise httpcore.ConnectError(f"no way to {host}")
        return await super().connect_tcp("127.0.0.1", self._servers[host].port, *args, **kwargs)
