import socket
import sys
from pathlib import Path

import pytest

from infra.emulators.process import HOST, CannotRunError, free_port, running, sdk_file


def test_a_process_answers_inside_and_is_gone_afterwards(tmp_path: Path):
    port = free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", HOST]

    with running(command, port=port, log=tmp_path / "log") as address:
        assert address == f"{HOST}:{port}"
        socket.create_connection((HOST, port)).close()

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, port))


def test_a_process_that_ends_at_once_names_its_log(tmp_path: Path):
    log = tmp_path / "log"
    command = [sys.executable, "-c", "print('no such option'); raise SystemExit(3)"]

    with (
        pytest.raises(CannotRunError, match=f"ended with 3: see {log}"),
        running(command, port=free_port(), log=log),
    ):
        pass

    assert log.read_text() == "no such option\n"


def test_a_missing_component_says_how_to_install_it():
    with pytest.raises(CannotRunError, match="gcloud components install no-such-emulator"):
        sdk_file("no-such-emulator/*.jar")
