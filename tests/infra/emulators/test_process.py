import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from infra.emulators.process import (
    HOST,
    CannotRunError,
    EndedEarlyError,
    find_free_port,
    find_sdk_file,
    run_server,
)


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


def test_a_port_that_was_given_out_is_given_to_no_other_process():
    program = "import sys; from infra.emulators.process import reserve_port as reserve; "
    program += "print(reserve(int(sys.argv[1])))"
    port = find_free_port()

    other = subprocess.run(
        [sys.executable, "-c", program, str(port)], check=True, capture_output=True, text=True
    )

    assert other.stdout == "False\n"


def test_a_process_that_ends_while_it_is_needed_shows_the_end_of_its_log(tmp_path: Path):
    port = find_free_port()
    program = (
        "import os, socket, sys\n"
        f"with socket.create_server(({HOST!r}, {port})) as server:\n"
        "    server.accept()\n"  # of the one who waits for the port
        "    server.accept()[0].send(str(os.getpid()).encode())\n"
        "sys.exit('out of memory')"
    )

    with (
        pytest.raises(EndedEarlyError, match=r"(?s)ended with 1:.*out of memory"),
        run_server([sys.executable, "-c", program], port=port, log=tmp_path / "log"),
    ):
        _wait_until_it_ends(port)


def _wait_until_it_ends(port: int) -> None:
    with socket.create_connection((HOST, port)) as connection:
        pid = int(connection.recv(16))
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def test_a_missing_component_says_how_to_install_it():
    with pytest.raises(CannotRunError, match="gcloud components install no-such-emulator"):
        find_sdk_file("no-such-emulator/*.jar")
