import socket
import sys
from pathlib import Path

import pytest

from infra.emulators.process import HOST, CannotRunError, find_free_port, find_sdk_file, run_server


def test_a_process_listens_inside_the_block_and_is_stopped_afterwards(tmp_path: Path):
    port = find_free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", HOST]

    with run_server(command, port=port, log=tmp_path / "log") as address:
        assert address == f"{HOST}:{port}"
        socket.create_connection((HOST, port)).close()

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, port))


def test_a_process_that_ends_at_once_names_its_log(tmp_path: Path):
    log = tmp_path / "log"
    command = [sys.executable, "-c", "print('no such option'); raise SystemExit(3)"]

    with (
        pytest.raises(CannotRunError, match=f"ended with 3: see {log}"),
        run_server(command, port=find_free_port(), log=log),
    ):
        pass

    assert log.read_text() == "no such option\n"


def test_a_missing_component_says_how_to_install_it():
    with pytest.raises(CannotRunError, match="gcloud components install no-such-emulator"):
        find_sdk_file("no-such-emulator/*.jar")
