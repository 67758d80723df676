"""Name server over UDP on loopback with answers that change, and a resolver that asks it."""

import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

import anyio.to_thread

_HEADER = struct.Struct(">6H")
_RECORD = struct.Struct(">HHHIH")  # name (a pointer), type, class, time to live, length
_A, _AAAA, _IN = 1, 28, 1
_FAMILY = {_A: socket.AF_INET, _AAAA: socket.AF_INET6}


class NameServer:
    """Answer each query with the next of `answers`, repeating the last; time to live 0."""

    def __init__(self, server_socket: socket.socket, answers: Sequence[Sequence[str]]) -> None:
        self._socket = server_socket
        self._answers = answers
        self.queries: list[str] = []

    def serve(self) -> None:
        """Answer until an empty datagram comes."""
        while True:
            query, client = self._socket.recvfrom(512)
            if not query:
                return
            self._socket.sendto(self._answer(query), client)

    async def resolve(self, host: str, port: int) -> list[str]:
        """Ask this server, as a stub resolver does, for addresses of both kinds."""
        return await anyio.to_thread.run_sync(self._ask, host)

    def stop(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.sendto(b"", self._socket.getsockname())

    def _ask(self, host: str) -> list[str]:
        name = b"".join(bytes([len(label)]) + label.encode() for label in host.split("."))
        query = _HEADER.pack(1, 0x0100, 1, 0, 0, 0) + name + b"\0" + struct.pack(">HH", _A, _IN)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(10)
            client.sendto(query, self._socket.getsockname())
            return list(_parse_addresses(client.recv(4096), len(query)))

    def _answer(self, query: bytes) -> bytes:
        self.queries.append(_parse_name(query))
        addresses = self._answers[min(len(self.queries), len(self._answers)) - 1]
        head = _HEADER.pack(*_HEADER.unpack_from(query)[:1], 0x8180, 1, len(addresses), 0, 0)
        return head + query[_HEADER.size :] + b"".join(map(_build_record, addresses))


@contextmanager
def run_name_server(*answers: Sequence[str]) -> Iterator[NameServer]:
    """Run a name server in a thread."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        server = NameServer(listener, answers)
        thread = Thread(target=server.serve, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stop()
            thread.join()


def _parse_name(query: bytes) -> str:
    labels, offset = [], _HEADER.size
    while size := query[offset]:
        labels.append(query[offset + 1 : offset + 1 + size].decode())
        offset += 1 + size
    return ".".join(labels)


def _build_record(address: str) -> bytes:
    kind = _AAAA if ":" in address else _A
    address_bytes = socket.inet_pton(_FAMILY[kind], address)
    return _RECORD.pack(0xC000 | _HEADER.size, kind, _IN, 0, len(address_bytes)) + address_bytes


def _parse_addresses(answer: bytes, offset: int) -> Iterator[str]:
    for _ in range(_HEADER.unpack_from(answer)[3]):
        _, kind, _, _, size = _RECORD.unpack_from(answer, offset)
        offset += _RECORD.size + size
        yield socket.inet_ntop(_FAMILY[kind], answer[offset - size : offset])
