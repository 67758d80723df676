"""Import times: what a fresh process spends on loading an entry point, beside its foundations.

CPU time, because with a warm page cache loading is nothing else, and a busy machine counts the same.
"""

import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from infra.bench.figures import Figure
from infra.bench.processes import ROOT, build_environment, open_folder

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
    times = {loading.name: median(seconds) for loading, seconds in columns}
    return [
        *(Figure(f"import {b.name}", times[b.name] * 1000, "ms") for b in (BARE, BARE_CLOUD)),
        *(_build_ratio_figure(times, entry) for entry in ENTRIES),
    ]


def _build_ratio_figure(times: Mapping[str, float], entry: Loading) -> Figure:
    bare = BARE_CLOUD if entry.cloud else BARE
    ratio = times[entry.name] / times[bare.name]
    return Figure(f"load {entry.name}, to bare", ratio, target=entry.limit)


def _measure_seconds(loading: Loading) -> float:
    """Time one fresh process. Raises CalledProcessError when it fails; its errors are shown."""
    with open_folder() as data, socket.create_server(("127.0.0.1", 0)) as silent:
        emulator = f"127.0.0.1:{silent.getsockname()[1]}"
        emulators = {"FIRESTORE_EMULATOR_HOST": emulator, "PUBSUB_EMULATOR_HOST": emulator}
        variables = _CLOUD_ENVIRONMENT | emulators if loading.cloud else {}
        output = subprocess.check_output(
            [sys.executable, "-W", "ignore", "-c", _TIMING_CODE.format(body=loading.code)],
            cwd=ROOT,
            env=build_environment(DATA_DIR=str(data), **variables),
            text=True,
        )
    return float(output.split()[-1])
