"""Cold start: a function connects to its documents while it loads, where it also serves (D11)."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.emulators.process import find_free_port, run_server
from infra.local.routing import ROOT
from tests.e2e.test_imports import CLOUD_ENVIRONMENT, list_loaded_modules
from tests.infra.terraform.stack import build_command

HTTP2_PREFACE = b"PRI * HTTP/2.0"
TIMEOUT_S = 60


@pytest.fixture
def firestore() -> Iterator[socket.socket]:
    """A place to connect to that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(TIMEOUT_S)
        yield listener


def get_address(listener: socket.socket) -> str:
    host, port = listener.getsockname()
    return f"{host}:{port}"


def accept_speaker(listener: socket.socket) -> bytes:
    """Return the first words of the first connection that has some: others look whether somebody listens."""
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(TIMEOUT_S)
            if words := connection.recv(len(HTTP2_PREFACE)):
                return words


@pytest.mark.parametrize("function", ["chat", "tool_proxy", "notifications"])
def test_a_function_connects_before_its_first_request_d11(
    function: str, firestore: socket.socket, tmp_path: Path
) -> None:
    port = find_free_port()
    environment = {
        **CLOUD_ENVIRONMENT,
        "FIRESTORE_EMULATOR_HOST": get_address(firestore),
        "FUNCTION_TARGET": function,
        "FUNCTION_SOURCE": f"functions/{function}/main.py",
        "PYTHONPATH": str(ROOT),
    }
    fields = [f"{name}={value}" for name, value in environment.items()]
    command = ["env", "-i", *fields, *build_command(port)]

    with run_server(command, port=port, log=tmp_path / "log", cwd=ROOT):
        words = accept_speaker(firestore)

    assert words == HTTP2_PREFACE


def test_a_function_that_is_loaded_to_be_served_elsewhere_connects_nowhere_d11(
    firestore: socket.socket,
) -> None:
    """A connection would not outlive gunicorn's fork."""
    emulators = {"FIRESTORE_EMULATOR_HOST": get_address(firestore)}

    list_loaded_modules("chat", "chat", **CLOUD_ENVIRONMENT, **emulators)

    firestore.settimeout(0)
    with pytest.raises(BlockingIOError):
        firestore.accept()
