"""Faulty link: a reset of a connection whose client has gone is none."""

import socket

import pytest
from anyio.abc import SocketStream

from infra.soak.faulty_link import reset


async def test_a_connection_is_reset_once_and_not_after_its_end() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
    ):
        near = await SocketStream.from_socket(listener.accept()[0])
        was_reset = reset(near)
        await near.aclose()

        with pytest.raises(ConnectionResetError):
            client.recv(1)
        assert (was_reset, reset(near)) == (True, False)
