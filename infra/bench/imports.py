"""Import times: what a fresh process spends on loading an entry point, beside its foundations.

CPU time, because with a warm page cache loading is nothing else, and a busy machine counts the same.
"""

import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from infra.bench.figures import Figure
from infra.bench.processes import ROOT, build_environment

ROUNDS = 15
_TIMING_CODE = """
import time; started = time.process_time()
{body}
print(time.process_time() - started)
"""
_LOAD_CODE = """
from functions_framework.aio import create_asgi_app
create_asgi_app({entry!r}, "functions/{folder}/main.py", "http")
"""
_CLOUD_ENVIRONMENT = {
    "KEEPSAKE_WORLD": "cloud",
    "GOOGLE_CLOUD_PROJECT": "bench",
    "OPENAI_API_KEY": "x",
    "PINECONE_API_KEY": "x",
    "PINECONE_SPARSE_HOST": "bench.invalid",
}
"""Settings that are enough to build every client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """A measured import; `limit` is its ratio to the bare imports of its world."""

    name: str
    code: str
    cloud: bool = False
    limit: float | None = None


def _build_entry(
    folder: str, *, entry: str = "", cloud: bool = False, limit: float | None = None
) -> Loading:
    world = "cloud" if cloud else "embedded"
    code = _LOAD_CODE.format(entry=entry or folder, folder=folder)
    return Loading(name=f"{folder}, {world}", code=code, cloud=cloud, limit=limit)


BARE = Loading(name="functions_framework.aio", code="import functions_framework.aio")
BARE_CLOUD = Loading(
    name="functions_framework.aio + openai + google.cloud.firestore",
    code="import functions_framework.aio, openai, google.cloud.firestore",
    cloud=True,
)
ENTRIES = (
    _build_entry("tool_proxy", limit=1.5),
    _build_entry("tool_proxy/registry", entry="apps"),
    _build_entry("notifications", limit=1.5),
    _build_entry("chat", limit=1.7),
    _build_entry("process_conversation", entry="library"),
    _build_entry("chat", cloud=True, limit=1.2),
    _build_entry("process_conversation", entry="library", cloud=True),
    _build_entry("tool_proxy", cloud=True),
)


def measure_import_times() -> list[Figure]:
    """Load each in fresh processes, in turn; the first round warms the page cache."""
    everything = (BARE, BARE_CLOUD, *ENTRIES)
    rounds = [[_measure_seconds(loading) for loading in everything] for _ in range(ROUNDS + 1)][1:]
    columns = zip(everything, zip(*rounds, strict=True), strict=True)
    times = {loading.name: _compute_median(seconds) for loading, seconds in columns}
    return [
        _build_absolute_figure(times, BARE),
        _build_absolute_figure(times, BARE_CLOUD),
        *(_build_ratio_figure(times, e) for e in ENTRIES),
    ]


def _compute_median(seconds: tuple[float | None, ...]) -> float | None:
    values = [value for value in seconds if value is not None]
    return median(values) if values else None


def _build_absolute_figure(times: Mapping[str, float | None], bare: Loading) -> Figure:
    seconds = times[bare.name]
    return Figure(f"import {bare.name}", seconds and seconds * 1000, "ms")


def _build_ratio_figure(times: Mapping[str, float | None], entry: Loading) -> Figure:
    seconds, bare = times[entry.name], times[(BARE_CLOUD if entry.cloud else BARE).name]
    ratio = seconds / bare if seconds and bare else None
    return Figure(f"load {entry.name}, to bare", ratio, target=entry.limit)


def _measure_seconds(loading: Loading) -> float | None:
    """Time one fresh process; print its error and return None when it fails."""
    with tempfile.TemporaryDirectory() as data, socket.create_server(("127.0.0.1", 0)) as silent:
        emulator = f"127.0.0.1:{silent.getsockname()[1]}"
        emulators = {"FIRESTORE_EMULATOR_HOST": emulator, "PUBSUB_EMULATOR_HOST": emulator}
        process = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _TIMING_CODE.format(body=loading.code)],
            cwd=ROOT,
            env=build_environment(
                DATA_DIR=data, **(_CLOUD_ENVIRONMENT | emulators if loading.cloud else {})
            ),
            capture_output=True,
            text=True,
            check=False,
        )
    if process.returncode:
        print(f"{loading.name}: {process.stderr.strip().splitlines()[-1]}")
        return None
    return float(process.stdout.split()[-1])
