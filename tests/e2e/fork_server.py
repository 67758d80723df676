"""Fork server: one process that has imported the product, and starts it by a fork.

Two thirds of what a start costs are imports, and the tests start a hundred products. What a start prints,
refuses and answers is the program's own; the command of `make run` is tested where a test names it.
"""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
from atexit import register
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from infra.local.routing import ROOT, load_entry_points
from shared.data.stores import import_store
from shared.edge.declare.entry_points import load_place

CONTROL = 0
"""The file descriptor over which each start gets a connection of its own."""


class ForkedProcess:
    """A started program, as `subprocess.Popen` has one. Its output is in `log`."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self._args = [sys.executable, "-m", "infra.local"]
        self.returncode: int | None = None
        self._connection, other = socket.socketpair()
        with other:
            socket.send_fds(_start_server(), [b"."], [other.fileno()])
        self._lines = self._connection.makefile("rb")
        request = {"environment": dict(environment), "log": str(log)}
        self._connection.sendall(json.dumps(request).encode() + b"\n")
        self.pid = int(self._lines.readline())

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once it ended. Raises TimeoutExpired."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self._connection.recv(1, socket.MSG_PEEK)
            except (BlockingIOError, TimeoutError):
                raise subprocess.TimeoutExpired(self._args, timeout or 0) from None
            self._connection.settimeout(None)
            self.returncode = int(self._lines.readline())
            self._lines.close()
            self._connection.close()
        return self.returncode

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@cache
def _start_server() -> socket.socket:
    """Start the server of this process; it ends with it. Returns its control connection."""
    own, other = socket.socketpair()
    with other:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.fork_server"],
            stdin=other.fileno(),
            stdout=subprocess.DEVNULL,
            cwd=ROOT,
        )

    def stop() -> None:
        own.close()
        server.wait()

    register(stop)
    return own


def main() -> int:
    """Serve until the control connection ends. Returns the exit code, in each process that was forked."""
    _import_product()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control = socket.socket(fileno=CONTROL)
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not descriptors:
            return 0
        if os.fork() == 0:
            control.detach()
            return _run(socket.socket(fileno=descriptors[0]))
        os.close(descriptors[0])


def _import_product() -> None:
    """Import what the product imports at its start and with its first requests."""
    import_module("infra.local.__main__")
    for package in {function.source.parent.name for function in load_entry_points()}:
        import_module(f"functions.{package}.wiring")
        for entry_point in import_module(f"functions.{package}.entry_points").ENTRY_POINTS:
            for place in entry_point.places:
                load_place(place)
            for store in entry_point.stores:
                import_store(store)


def _run(connection: socket.socket) -> int:
    """Start the product and tell its number, then its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection, connection.makefile("rw") as stream:
        request = json.loads(stream.readline())
        pid = os.fork()
        if pid:
            print(pid, file=stream, flush=True)
            _, status = os.waitpid(pid, 0)
            print(os.waitstatus_to_exitcode(status), file=stream, flush=True)
            return 0
    return _become_product(request)


def _become_product(request: Mapping[str, Any]) -> int:
    os.environ.clear()
    os.environ.update(request["environment"])
    with open(os.devnull, "rb") as nothing, open(request["log"], "wb") as log:  # noqa: PTH123
        for source, number in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(source.fileno(), number)
    code: int = import_module("infra.local.__main__").main()
    return code


if __name__ == "__main__":
    sys.exit(main())
