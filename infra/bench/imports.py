"""Import times: what a fresh process spends on loading an entry point, beside its foundations.

CPU time, because with a warm page cache loading is little else, and a busy machine counts the same. Of the
user and of the kernel: their sum is exact, and where the kernel draws the line between them, it guesses.
"""

import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import median

from infra.bench.figures import Figure
from infra.bench.processes import ROOT, build_environment, open_folder

ROUNDS = 15
_TIMING_CODE = """
import sys; sys.modules["rich"] = None  # httpx loads it where it is, and the image has none
{setup}
from time import process_time; started = process_time()
{body}
print(process_time() - started)
"""
_LOAD_CODE = """
from functions_framework.aio import create_asgi_app
create_asgi_app({entry!r}, "functions/{folder}/main.py", "http")
"""
_QUESTION_MODULES = (
    "functions.chat.api.asking_routes",
    "shared.data.search.search",
    "shared.data.search.file_index",
)
_QUESTION_ADAPTERS = {
    "embedded": ("embedded.sqlite_vectors", "embedded.offline.offline_model"),
    "cloud": ("cloud.pinecone_vectors", "cloud.openai_model"),
}
_ASKING_SETUP = "import asyncio, os, pathlib, httpx; os.environ['FUNCTION_TARGET'] = 'chat'"
_ASKING_CODE = """
from functions_framework.aio import create_asgi_app
app = create_asgi_app("chat", "functions/chat/main.py", "http")
from shared.adapters.embedded.local_identity import LocalIdentity, read_secret
token = LocalIdentity(read_secret(pathlib.Path(os.environ["DATA_DIR"]))).issue("ann")
async def ask():
    headers = {"Authorization": f"Bearer {token}"}
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://chat", headers=headers) as http:
        answer = await http.post("/v2/messages", json={"text": "When is the Lisbon offsite?"})
    assert answer.is_success and "done: " in answer.text, answer.text
asyncio.run(ask())
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
    """A measured import, after a `setup` that does not count; `limit` is its ratio to `bare`."""

    name: str
    code: str
    setup: str = ""
    cloud: bool = False
    bare: "Loading | None" = None
    limit: float | None = None


BARE = Loading(name="functions_framework", code="import functions_framework.aio")
BARE_SDK = Loading(
    name="functions_framework, openai and firestore",
    code="import functions_framework.aio, openai, google.cloud.firestore",
)
BARE_CLOUD = Loading(
    name="functions_framework, httpx, pydantic and firestore",
    code="import functions_framework.aio, httpx, google.cloud.firestore, pydantic.main, pydantic.types",
)


def _build_entry(
    folder: str, *, entry: str = "", bare: Loading = BARE, limit: float | None = None
) -> Loading:
    cloud = bare is not BARE
    world = "cloud" if cloud else "embedded"
    name = entry or folder
    return Loading(
        name=f"{name}, {world}",
        code=_LOAD_CODE.format(entry=name, folder=folder),
        setup=f"import os; os.environ['FUNCTION_TARGET'] = {name!r}",
        cloud=cloud,
        bare=bare,
        limit=limit,
    )


def _build_question(*, bare: Loading, limit: float | None = None) -> Loading:
    """Load chat, and what its first question imports."""
    entry = _build_entry("chat", bare=bare, limit=limit)
    adapters = _QUESTION_ADAPTERS["cloud" if entry.cloud else "embedded"]
    modules = [*_QUESTION_MODULES, *(f"shared.adapters.{name}" for name in adapters)]
    code = f"{entry.code}import {', '.join(modules)}"
    return replace(entry, name=f"{entry.name}, and what a question imports", code=code)


ENTRIES = (
    _build_entry("tool_proxy", limit=1.5),
    _build_entry("tool_proxy", entry="apps"),
    _build_entry("notifications", limit=1.5),
    _build_entry("chat", limit=1.6),
    _build_question(bare=BARE),
    Loading(name="chat, embedded, and answer", code=_ASKING_CODE, setup=_ASKING_SETUP, bare=BARE),
    _build_entry("library", entry="library"),
    _build_entry("chat", bare=BARE_SDK, limit=0.6),
    _build_entry("chat", bare=BARE_CLOUD, limit=1.2),
    _build_question(bare=BARE_SDK),
    _build_question(bare=BARE_CLOUD, limit=1.2),
    _build_entry("library", entry="library", bare=BARE_CLOUD),
    _build_entry("tool_proxy", bare=BARE_CLOUD),
)


def measure_import_times() -> list[Figure]:
    """Load each in fresh processes, in turn; the first round warms the page cache."""
    everything = (BARE, BARE_SDK, BARE_CLOUD, *ENTRIES)
    rounds = [[_measure_seconds(loading) for loading in everything] for _ in range(ROUNDS + 1)][1:]
    columns = zip(everything, zip(*rounds, strict=True), strict=True)
    times = {loading: median(seconds) for loading, seconds in columns}
    return [_build_figure(times, loading) for loading in everything]


def _build_figure(times: Mapping[Loading, float], loading: Loading) -> Figure:
    if loading.bare is None:
        return Figure(f"import {loading.name}", times[loading] * 1000, "ms")
    name = f"load {loading.name}: to {loading.bare.name}"
    return Figure(name, times[loading] / times[loading.bare], target=loading.limit)


def _measure_seconds(loading: Loading) -> float:
    """Time one fresh process. Raises CalledProcessError when it fails; its errors are shown."""
    with open_folder() as data, socket.create_server(("127.0.0.1", 0)) as silent:
        emulator = f"127.0.0.1:{silent.getsockname()[1]}"
        emulators = {"FIRESTORE_EMULATOR_HOST": emulator, "PUBSUB_EMULATOR_HOST": emulator}
        variables = _CLOUD_ENVIRONMENT | emulators if loading.cloud else {}
        output = subprocess.check_output(
            [
                sys.executable,
                "-W",
                "ignore",
                "-c",
                _TIMING_CODE.format(setup=loading.setup, body=loading.code),
            ],
            cwd=ROOT,
            env=build_environment(DATA_DIR=str(data), **variables),
            text=True,
        )
    return float(output.split()[-1])
