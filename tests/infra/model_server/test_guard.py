"""Guard of the model server: nothing that it started outlives whoever started it."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from infra.model_server.server import GUARD
from tests.e2e.waiting import wait_until

LASTING = "import threading; print('up', flush=True); threading.Event().wait()"
STUBBORN = f"import signal; signal.signal(15, signal.SIG_IGN); {LASTING}"
WAITING = f"import os, sys; open(sys.argv[1], 'w').write(f'{{os.getpid()}};'); {LASTING}"
STARTER = """
import subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, start_new_session=True)
process.wait()
"""


def start_guard(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", str(GUARD), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


@pytest.mark.parametrize(
    ("program", "code"),
    [("exit(0)", 0), ("exit(3)", 3), ("import os; os.abort()", 128 + 6)],
)
def test_the_guard_ends_with_its_command_and_tells_how(program: str, code: int) -> None:
    with start_guard([sys.executable, "-c", program]) as guard:
        assert guard.wait(30) == code


@pytest.mark.parametrize(("program", "signal"), [(LASTING, 15), (STUBBORN, 9)])
def test_the_command_ends_when_the_input_of_the_guard_is_closed(program: str, signal: int) -> None:
    with start_guard([sys.executable, "-c", program]) as guard:
        assert guard.stdout is not None
        assert guard.stdin is not None
        guard.stdout.readline()

        guard.stdin.close()

        assert guard.wait(30) == 128 + signal
        assert guard.stdout.read() == b""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells who runs")
def test_the_command_ends_when_its_starter_is_killed(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    guard = [sys.executable, "-I", str(GUARD), sys.executable, "-c", WAITING, str(pid_file)]
    with subprocess.Popen([sys.executable, "-c", STARTER, *guard]) as starter:
        pid = wait_until(lambda: read_pid(pid_file))

        starter.kill()

        wait_until(lambda: None if is_running(pid) else True)


def read_pid(file: Path) -> int | None:
    text = file.read_text() if file.exists() else ""
    return int(text[:-1]) if text.endswith(";") else None


def is_running(pid: int) -> bool:
    """Tell whether a process runs; one that ended waits for whoever adopted it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
