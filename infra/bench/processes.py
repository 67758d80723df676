"""Processes under measurement: started for real, on free ports, with a clean environment."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LOCAL_KEY = secrets.token_urlsafe()
"""The local key of every server that this process starts."""
_START_TIMEOUT_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProcess:
    """A process that listens on a loopback port; `log` is what it wrote."""

    pid: int
    port: int
    log: Path

    @property
    def cpu_s(self) -> float:
        """Return the CPU time that it and its children used so far."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        ticks = sum(_read_ticks(pid) for pid in (str(self.pid), *children))
        return ticks / os.sysconf("SC_CLK_TCK")

    @property
    def memory_mb(self) -> float:
        """Return its resident memory."""
        return self._read_status_mb("VmRSS")

    @property
    def peak_mb(self) -> float:
        """Return its highest resident memory."""
        return self._read_status_mb("VmHWM")

    @property
    def openai_url(self) -> str:
        """The base URL of a scripted model."""
        return f"http://127.0.0.1:{self.port}/v1"

    def read_request_lines(self, function: str) -> list[dict[str, Any]]:
        """Return the canonical lines of one function's requests so far."""
        text = self.log.read_text().splitlines()
        ours = f'"function": "{function}"'
        return [json.loads(line) for line in text if ours in line and line.endswith("}")]

    def kill(self) -> None:
        """Kill it, as a crash does."""
        os.kill(self.pid, signal.SIGKILL)

    def _read_status_mb(self, name: str) -> float:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        [kilobytes] = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
        return int(kilobytes) / 1024


def build_environment(**variables: str) -> dict[str, str]:
    """Return an environment of `variables` and what Python needs, without this shell's; search goes by words."""
    return {"PYTHONPATH": str(ROOT), "EMBEDDER": "off", **variables}


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@contextmanager
def open_folder() -> Iterator[Path]:
    """Make a folder that is gone when the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@contextmanager
def run_module(
    module: str, *arguments: str, port: int, env: Mapping[str, str]
) -> Iterator[ServerProcess]:
    """Run `python -m module` until the block ends. Raises RuntimeError when it does not listen."""
    with open_folder() as folder, (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env=build_environment(**env),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_for_port(process, port, Path(log.name))
            yield ServerProcess(pid=process.pid, port=port, log=Path(log.name))
        finally:
            process.terminate()
            process.wait(timeout=_START_TIMEOUT_S)


def _wait_for_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} does not listen on {port}:\n{log.read_text()[-2000:]}")


@contextmanager
def run_scripted_model() -> Iterator[ServerProcess]:
    port = find_free_port()
    with run_module(
        "tests.servers.openai", "--port", str(port), "--delay-ms", "50", port=port, env={}
    ) as server:
        yield server


def build_model_environment(model: ServerProcess) -> Mapping[str, str]:
    """Return an environment whose model is `model`."""
    return {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": model.openai_url}


@contextmanager
def run_keepsake(model: ServerProcess) -> Iterator[ServerProcess]:
    """Run the local server on a fresh DATA_DIR, against the scripted model."""
    with (
        open_folder() as data,
        run_keepsake_on(data, **build_model_environment(model)) as server,
    ):
        yield server


@contextmanager
def run_keepsake_on(data: Path, **variables: str) -> Iterator[ServerProcess]:
    """Run the local server on the files in `data`."""
    port = find_free_port()
    env = {"PORT": str(port), "DATA_DIR": str(data), "LOCAL_KEY": LOCAL_KEY, **variables}
    with run_module("infra.local", port=port, env=env) as server:
        yield server


@contextmanager
def run_reframer(model: ServerProcess) -> Iterator[ServerProcess]:
    """Run the baseline: the SDK's stream, re-framed and nothing else."""
    port = find_free_port()
    with run_module(
        "infra.bench.reframer", str(port), port=port, env=build_model_environment(model)
    ) as server:
        yield server


def _read_ticks(pid: str) -> int:
    """Return the ticks of a process and of those children of it that have ended."""
    with suppress(FileNotFoundError):  # it has just ended, and counts for its parent
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        return sum(map(int, fields[11:15]))
    return 0
