"""Fixtures of all tests: the asyncio backend, storage, the emulators, and the order of a run."""

import gc
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings
from pytest_timeout import Settings

from infra.emulators.auth import run_auth
from infra.emulators.firestore import run_firestore
from infra.emulators.process import CannotRunError
from infra.emulators.pubsub import run_pubsub
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.ports import Documents
from tests.fixtures.storage import INDEXES, open_database, open_firestore_documents

ROOT = Path(__file__).parents[1]
Started = TypeVar("Started")
SLOW_PARTS = (
    "ai_sdk",
    "cloud_local",
    "contracts",
    "e2e",
    "examples",
    "infra",
    "web",
    "test_linear_texts.py",
    "test_recipes.py",
)

# What a test starts has no encoder, which costs every server a process, unless the test is about meanings.
os.environ["EMBEDDER"] = "off"

# An example may be slow where emulators run beside it: that says nothing about the code.
examples = os.environ.get("EXAMPLES")
settings.register_profile(
    "keepsake", deadline=None, derandomize=not examples, max_examples=int(examples or 25)
)
settings.load_profile("keepsake")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a browser, and run slow tests first, so that processes side by side end together."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: not is_slow(item.path))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Let a teardown that never ends fail: once a test has failed, pytest's own clocks no longer run."""
    chosen = item.config.getoption("timeout")  # 0 is none
    seconds = float(item.config.getini("timeout") if chosen is None else chosen)
    timer = Settings(seconds, "signal", func_only=False, disable_debugger_detection=False)
    item.ihook.pytest_timeout_set_timer(item=item, settings=timer)
    yield
    item.ihook.pytest_timeout_cancel_timer(item=item)


def pytest_collection_finish() -> None:
    gc.freeze()  # what was imported and collected stays to the end, and need not be looked through


@cache
def is_slow(path: Path) -> bool:
    return path.relative_to(ROOT / "tests").parts[0] in SLOW_PARTS


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio: it is what the functions run on."""
    return "asyncio"


@pytest.fixture(scope="session")
def firestore_emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run Firestore for the whole run, at `host:port`; a test takes a project id of its own."""
    log = tmp_path_factory.mktemp("emulators") / "firestore.log"
    with run_or_skip(lambda: run_firestore(log, rules=ROOT / "infra/firestore.rules")) as address:
        yield address


@pytest.fixture(scope="session")
def pubsub_emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run Pub/Sub for the whole run, at `host:port`; a test takes a project id of its own."""
    log = tmp_path_factory.mktemp("emulators") / "pubsub.log"
    with run_or_skip(lambda: run_pubsub(log)) as address:
        yield address


@pytest.fixture(scope="session")
def auth_emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run Auth for the whole run, at `host:port`; it serves the project `demo-keepsake`."""
    log = tmp_path_factory.mktemp("emulators") / "auth.log"
    with run_or_skip(lambda: run_auth(log, project="demo-keepsake")) as address:
        yield address


@pytest.fixture
def file_database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with open_database(tmp_path) as database:
        yield database


@pytest.fixture
def database(file_database: SqliteDatabase) -> SqliteDatabase:
    return file_database


@pytest.fixture
def documents(database: SqliteDatabase) -> Documents:
    return SqliteDocuments(database, INDEXES)


@pytest.fixture
def vectors(database: SqliteDatabase) -> SqliteVectors:
    return SqliteVectors(database)


@pytest.fixture
async def firestore_documents(
    firestore_emulator: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Documents]:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)
    with open_firestore_documents() as documents:
        yield documents


@pytest.fixture(
    params=[
        pytest.param("documents", id="sqlite"),
        pytest.param("firestore_documents", id="firestore", marks=pytest.mark.emulators),
    ]
)
def any_documents(request: pytest.FixtureRequest) -> Documents:
    """Run the test on each storage."""
    documents: Documents = request.getfixturevalue(request.param)
    return documents


@contextmanager
def run_or_skip(start: Callable[[], AbstractContextManager[Started]]) -> Iterator[Started]:
    """Skip what cannot run on this machine, unless REQUIRE_ALL=1 says that it must."""
    with ExitStack() as stack:
        try:
            started = stack.enter_context(start())
        except CannotRunError as error:
            if os.environ.get("REQUIRE_ALL") == "1":
                pytest.fail(str(error))
            pytest.skip(str(error))
        yield started
