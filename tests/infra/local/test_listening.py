"""The ports of `make run`."""

import socket

from infra.local.__main__ import listen


def test_what_is_sent_waits_for_no_acknowledgement() -> None:
    with listen("127.0.0.1", 0) as port, socket.create_connection(port.getsockname()):
        accepted, _ = port.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
