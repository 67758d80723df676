"""The chat function in tests, and the ban on calls that would block its event loop."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from blockbuster import blockbuster_ctx

from tests.fixtures.chat import ChatFixture, build_chat_fixture
from tests.fixtures.storage import MemoryDatabase


@pytest.fixture(autouse=True, scope="module")
def forbid_blocking_calls() -> Iterator[None]:
    """Fail on calls that block the event loop, and with it every other stream.

    What happens once in a process may: small local files (our prompts and sentences, the zones, what a package
    says about itself), brief work of SQLite, a module's import, which waits where another thread, such as a server's,
    imports the same, and the measuring of coverage, which waits for another thread's.
    Once for a file: to wrap fifty functions for each test would take longer than many of them.
    """
    with blockbuster_ctx() as watch:
        for call in ("io.TextIOWrapper.read", "io.BufferedReader.read"):
            watch.functions[call].can_block_in("shared/prompts/__init__.py", "_read_text")
            watch.functions[call].can_block_in("shared/languages/__init__.py", "_load")
            watch.functions[call].can_block_in("shared/safety/crisis_plan.py", "load_resources")
            watch.functions[call].can_block_in("shared/safety/crisis_plan.py", "_load_words")
            watch.functions[call].can_block_in("shared/exercises/__init__.py", "load_exercises")
            watch.functions[call].can_block_in("zoneinfo/_common.py", "load_data")
            watch.functions[call].can_block_in("importlib/metadata/__init__.py", "read_text")
        for name in [name for name in watch.functions if name.startswith("sqlite3.")]:
            watch.functions[name].can_block_in("embedded/sqlite_database.py", "_run_briefly")
            watch.functions[name].can_block_in("tests/fixtures/storage.py", "write")
        imports = "<frozen importlib._bootstrap>"
        locks = watch.functions["threading.Lock.acquire"]
        locks.can_block_in(imports, "acquire")
        locks.can_block_in("coverage/collector.py", "lock_data")
        watch.functions["os.stat"].can_block_in("zoneinfo/_tzpath.py", "find_tzfile")
        yield


@pytest.fixture
def world() -> Iterator[ChatFixture]:
    with closing(MemoryDatabase()) as database:
        yield build_chat_fixture(database)
