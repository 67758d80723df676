"""Child processes that serve a port: emulators of the Google Cloud SDK, and the product itself."""

import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol

HOST = "127.0.0.1"
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 10.0
LOG_END_CHARS = 4_000
FIRST_PORT, PORT_COUNT = 20_000, 12_000
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of Java for minutes: to compile code a second time, and to collect in many threads, costs more than it gains."""
SDK_ROOTS = ("/usr/lib/google-cloud-sdk", "/opt/google-cloud-sdk", "~/google-cloud-sdk")


class CannotRunError(RuntimeError):
    """A tool that this machine lacks; the message names it in one line."""


class EndedEarlyError(RuntimeError):
    """A server that ended while it was needed; the message holds the end of its log."""


class Process(Protocol):
    """A started program: `subprocess.Popen`, or one that was forked."""

    pid: int
    returncode: Any
    """The exit code once it was waited for, before that None."""

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


@contextmanager
def run_server(
    command: Sequence[str], *, port: int, log: Path, cwd: Path | None = None
) -> Iterator[str]:
    """Start `command`, wait until `port` answers, yield `host:port`, and stop it on leaving.

    Raises CannotRunError, and EndedEarlyError when it did not last until then.
    """
    with run_process(command, port=port, log=log, cwd=cwd) as process:
        yield f"{HOST}:{port}"
        if process.poll() is not None:
            end = log.read_text(errors="replace")[-LOG_END_CHARS:]
            raise EndedEarlyError(f"{command[0]} ended with {process.returncode}:\n{end}")


@contextmanager
def run_process(
    command: Sequence[str], *, port: int, log: Path, cwd: Path | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """Do the same as `run`, and yield the process."""
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=cwd) as process,
        attend(process, port=port, log=log),
    ):
        yield process


@contextmanager
def attend(process: Process, *, port: int, log: Path) -> Iterator[None]:
    """Wait until the `port` of a started process answers, and stop it on leaving. Raises CannotRunError."""
    try:
        _wait_for_port(port, process, log)
        yield
    finally:
        _stop(process)


def find_free_port() -> int:
    """Return a free port, and reserve it until this process ends.

    It is below the range that the system assigns (32,768 and above on Linux). A server may take
    seconds until it listens, so that a port that is only free now may be another's by then.
    """
    for port in _PORTS:
        if reserve_port(port):
            with suppress(OSError), socket.create_server((HOST, port)):
                return port
    raise CannotRunError("no port is free")


def reserve_port(port: int) -> bool:
    """Reserve a port among the processes of this account; False when another one has it."""
    try:
        fcntl.lockf(_open_reservations(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True


@cache
def _open_reservations() -> int:
    """Open the file whose bytes stand for ports: a process holds the locks of its own."""
    path = Path(tempfile.gettempdir()) / f"keepsake-ports-{os.getuid()}"
    return os.open(path, os.O_CREAT | os.O_RDWR, 0o600)


def _count_ports() -> Iterator[int]:
    start = os.getpid() * 499
    yield from (FIRST_PORT + (start + n) % PORT_COUNT for n in range(10 * PORT_COUNT))


_PORTS = _count_ports()


def find_java() -> str:
    """Find the Java that the emulators run on. Raises CannotRunError."""
    path = shutil.which("java")
    if path is None:
        raise CannotRunError("java is not on the PATH: install Java 17 or newer")
    return path


def find_sdk_file(pattern: str) -> Path:
    """Find a file below `platform` of the Google Cloud SDK. Raises CannotRunError."""
    for root in _list_sdk_roots():
        for path in sorted(root.glob(f"platform/{pattern}")):
            return path
    component = pattern.partition("/")[0]
    raise CannotRunError(f"{component} is missing: gcloud components install {component}")


def _list_sdk_roots() -> Iterator[Path]:
    gcloud = shutil.which("gcloud")
    if gcloud is not None:
        yield Path(gcloud).resolve().parents[1]
    for root in SDK_ROOTS:
        yield Path(root).expanduser()


def _wait_for_port(port: int, process: Process, log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not _is_listening(port):
        if process.poll() is not None:
            raise CannotRunError(f"the emulator ended with {process.returncode}: see {log}")
        if time.monotonic() > deadline:
            raise CannotRunError(
                f"port {port} did not answer for {START_TIMEOUT_S:.0f} s: see {log}"
            )
        time.sleep(0.05)


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def _stop(process: Process) -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
