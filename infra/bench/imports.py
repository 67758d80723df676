"""What a fresh process spends on loading an entry point, beside what it stands on.

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
from infra.bench.processes import ROOT, environment

ROUNDS = 15
_TIMED = """
import time; started = time.process_time()
{body}
print(time.process_time() - started)
"""
_LOAD = """
from functions_framework.aio import create_asgi_app
create_asgi_app({entry!r}, "functions/{folder}/main.py", "http")
"""
_CLOUD = {
    "KEEPSAKE_WORLD": "cloud",
    "GOOGLE_CLOUD_PROJECT": "bench",
    "OPENAI_API_KEY": "x",
    "PINECONE_API_KEY": "x",
    "PINECONE_SPARSE_HOST": "bench.invalid",
}
"""With the emulators' address, enough to build every client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """What a fresh process does; `limit` is a ratio to the bare imports of its world."""

    name: str
    code: str
    cloud: bool = False
    limit: float | None = None


def _entry(
    folder: str, *, entry: str = "", cloud: bool = False, limit: float | None = None
) -> Loading:
    world = "cloud" if cloud else "embedded"
    code = _LOAD.format(entry=entry or folder, folder=folder)
    return Loading(name=f"{folder}, {world}", code=code, cloud=cloud, limit=limit)


BARE = Loading(name="functions_framework.aio", code="import functions_framework.aio")
BARE_CLOUD = Loading(
    name="functions_framework.aio + openai + google.cloud.firestore",
    code="import functions_framework.aio, openai, google.cloud.firestore",
    cloud=True,
)
ENTRIES = (
    _entry("tool_proxy", limit=1.5),
    _entry("tool_proxy/apps", entry="apps"),
    _entry("notifications", limit=1.5),
    _entry("chat", limit=1.7),
    _entry("process_conversation", entry="library"),
    _entry("chat", cloud=True, limit=1.2),
    _entry("process_conversation", entry="library", cloud=True),
    _entry("tool_proxy", cloud=True),
)


def import_times() -> list[Figure]:
    """Load each in fresh processes, in turn; the first round warms the page cache."""
    everything = (BARE, BARE_CLOUD, *ENTRIES)
    rounds = [[_seconds(loading) for loading in everything] for _ in range(ROUNDS + 1)][1:]
    columns = zip(everything, zip(*rounds, strict=True), strict=True)
    times = {loading.name: _median(seconds) for loading, seconds in columns}
    return [
        _absolute(times, BARE),
        _absolute(times, BARE_CLOUD),
        *(_ratio(times, e) for e in ENTRIES),
    ]


def _median(seconds: tuple[float | None, ...]) -> float | None:
    measured = [each for each in seconds if each is not None]
    return median(measured) if measured else None


def _absolute(times: Mapping[str, float | None], bare: Loading) -> Figure:
    seconds = times[bare.name]
    return Figure(name=f"import {bare.name}", value=seconds and seconds * 1000, unit="ms")


def _ratio(times: Mapping[str, float | None], entry: Loading) -> Figure:
    seconds, bare = times[entry.name], times[(BARE_CLOUD if entry.cloud else BARE).name]
    ratio = seconds / bare if seconds and bare else None
    return Figure(name=f"load {entry.name}, to bare", value=ratio, wanted=entry.limit)


def _seconds(loading: Loading) -> float | None:
    """Time one fresh process; None, and its last words on the console, when it fails."""
    with tempfile.TemporaryDirectory() as data, socket.create_server(("127.0.0.1", 0)) as silent:
        emulator = f"127.0.0.1:{silent.getsockname()[1]}"
        emulators = {"FIRESTORE_EMULATOR_HOST": emulator, "PUBSUB_EMULATOR_HOST": emulator}
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _TIMED.format(body=loading.code)],
            cwd=ROOT,
            env=environment(DATA_DIR=data, **(_CLOUD | emulators if loading.cloud else {})),
            capture_output=True,
            text=True,
            check=False,
        )
    if ended.returncode:
        print(f"{loading.name}: {ended.stderr.strip().splitlines()[-1]}")
        return None
    return float(ended.stdout.split()[-1])
