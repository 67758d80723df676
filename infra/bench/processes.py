"""The processes under measurement: started for real, on free ports, with a clean environment."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_START_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A process that listens on a loopback port; `log` is what it wrote."""

    pid: int
    port: int
    log: Path

    @property
    def cpu_s(self) -> float:
        """Return the CPU time it used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory_mb(self) -> float:
        """Return how much of it stands in memory now."""
        return self._status("VmRSS")

    @property
    def peak_mb(self) -> float:
        """Return how much of it stood in memory at most."""
        return self._status("VmHWM")

    def kill(self) -> None:
        """End it as a crash does: it gets to do nothing more."""
        os.kill(self.pid, signal.SIGKILL)

    def _status(self, name: str) -> float:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        [kilobytes] = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
        return int(kilobytes) / 1024


def environment(**variables: str) -> dict[str, str]:
    """Return `variables` and what Python needs; nothing of this shell leaks in."""
    return {"PYTHONPATH": str(ROOT), **variables}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@contextmanager
def served(module: str, *arguments: str, port: int, env: Mapping[str, str]) -> Iterator[Served]:
    """Run `python -m module` until the block ends. Raises RuntimeError when it does not listen."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env=environment(**env),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(process, port, Path(log.name))
            yield Served(pid=process.pid, port=port, log=Path(log.name))
        finally:
            process.terminate()
            process.wait(timeout=_START_S)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} does not listen on {port}:\n{log.read_text()[-2000:]}")


@contextmanager
def scripted_model() -> Iterator[Served]:
    port = free_port()
    with served(
        "tests.servers.openai", "--port", str(port), "--delay-ms", "50", port=port, env={}
    ) as server:
        yield server


def at_model(model: Served) -> Mapping[str, str]:
    """Return the environment in which answers come from `model`."""
    return {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"http://127.0.0.1:{model.port}/v1"}


@contextmanager
def keepsake(model: Served) -> Iterator[Served]:
    """Run what `make run` runs, on a fresh DATA_DIR, against the scripted model."""
    with (
        tempfile.TemporaryDirectory() as data,
        keepsake_on(Path(data), **at_model(model)) as server,
    ):
        yield server


@contextmanager
def keepsake_on(data: Path, **variables: str) -> Iterator[Served]:
    """Run what `make run` runs, on the files in `data`."""
    port = free_port()
    env = {"PORT": str(port), "DATA_DIR": str(data), **variables}
    with served("infra.local", port=port, env=env) as server:
        yield server


@contextmanager
def reframer(model: Served) -> Iterator[Served]:
    """Run the baseline: the same stream through the SDK, re-framed and nothing else."""
    port = free_port()
    with served("infra.bench.reframer", str(port), port=port, env=at_model(model)) as server:
        yield server
