"""Fork server: one process that has imported the product, and starts it, or one of its programs, by a fork.

Two thirds of what a start costs are imports, and the tests start a hundred products and as many programs. What a start
prints, refuses and answers is the program's own; the command of `make run` is tested where a test names it.
"""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
from atexit import register
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from runpy import run_module
from typing import Any

from infra.local.routing import ROOT, load_entry_points
from shared.data.stores import import_store
from shared.edge.declare.entry_points import load_place

CONTROL = 0
"""The file descriptor over which each start gets a connection of its own, beside the name of its world."""
MAX_WORLD_BYTES = 16


PRODUCT = ("-m", "infra.local")


class ForkedProcess:
    """A started program, as `subprocess.Popen` has one. What it prints is in `log`, its errors too or in `errors`.

    `command` is what python is called with: `-m` or `-c`, and what follows. `folder` holds the code, and the program
    runs in it.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        log: Path,
        command: Sequence[str] = PRODUCT,
        *,
        errors: Path | None = None,
        folder: Path = ROOT,
    ) -> None:
        self._args = [sys.executable, *command]
        self.returncode: int | None = None
        self._connection, other = socket.socketpair()
        with other:
            world = environment.get("KEEPSAKE_WORLD", "embedded")
            socket.send_fds(_start_server(folder), [world.encode()], [other.fileno()])
        self._lines = self._connection.makefile("rb")
        request = {
            "environment": dict(environment),
            "log": str(log),
            "errors": str(errors or log),
            "command": list(command),
        }
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
def _start_server(folder: Path) -> socket.socket:
    """Start this process's server of the code in a folder; it ends with it. Returns its control connection."""
    own, other = socket.socketpair()
    with other:
        server = subprocess.Popen(
            [sys.executable, "-P", __file__],
            stdin=other.fileno(),
            stdout=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
        )

    def stop() -> None:
        own.close()
        server.wait()

    register(stop)
    return own


def main() -> None:
    """Serve until the control connection ends; each process that was forked returns from it too, and ends."""
    codes = [1]
    register(lambda: _end(codes[-1]))  # the first, so that it is called last
    try:
        codes.append(_serve())
    except SystemExit as ended:  # one without a code, or with a message
        codes.append(ended.code if isinstance(ended.code, int) else int(bool(ended.code)))
        raise


def _end(code: int) -> None:
    """End without taking apart what was imported: each object that is touched is a page that is copied."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _serve() -> int:
    """Return the exit code, in each process."""
    _import_product()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control = socket.socket(fileno=CONTROL)
    while True:
        world, descriptors, _, _ = socket.recv_fds(control, MAX_WORLD_BYTES, 1)
        if not descriptors:
            return 0
        if world == b"cloud":
            _import_cloud()
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


@cache
def _import_cloud() -> None:
    """Import what talks to the vendors of the cloud, and what serves its functions."""
    import_module("uvicorn.main")
    import_module("functions_framework.aio")
    adapters = import_module("shared.adapters.cloud")
    for module in iter_modules(adapters.__path__, f"{adapters.__name__}."):
        import_module(module.name)


def _run(connection: socket.socket) -> int:
    """Start a program and tell its number, then its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection, connection.makefile("rw") as stream:
        request = json.loads(stream.readline())
        pid = os.fork()
        if pid:
            print(pid, file=stream, flush=True)
            _, status = os.waitpid(pid, 0)
            print(os.waitstatus_to_exitcode(status), file=stream, flush=True)
            return 0
    return _become_program(request)


def _become_program(request: Mapping[str, Any]) -> int:
    os.environ.clear()
    os.environ.update(request["environment"])
    places = (Path(os.devnull), Path(request["log"]), Path(request["errors"]))
    for number, place in enumerate(places):
        with place.open("wb" if number else "rb") as file:
            os.dup2(file.fileno(), number)
    if places[1] == places[2]:
        os.dup2(1, 2)
    return _call(*request["command"])


def _call(kind: str, program: str, *arguments: str) -> int:
    """Run a program as python does. Returns its exit code."""
    if (kind, program) == PRODUCT:
        code: int = import_module("infra.local.__main__").main()
        return code
    sys.argv = [program, *arguments]
    if kind == "-m":
        run_module(program, run_name="__main__", alter_sys=True)
    else:
        exec(program, {"__name__": "__main__"})  # noqa: S102 - a test's own
    return 0


if __name__ == "__main__":
    main()
