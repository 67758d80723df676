"""Database in the memory of a process: gone with it, and never on a disk.

Also called: in-memory database.
"""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from shared.adapters.embedded.sqlite_database import SqliteDatabase

T = TypeVar("T")


class MemoryDatabase(SqliteDatabase):
    """SQLite without a file, behind one thread. Both worlds use it: it keeps nothing."""

    def __init__(self) -> None:
        self._path = Path(":memory:")
        self._pending_schema = []
        self._connections = _OneConnection()
        self._brief_writes = 0
        self._writer = self._readers = ThreadPoolExecutor(1, thread_name_prefix="memory")

    async def _run_briefly(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._run(self._writer, begin, work)  # the one connection is in use there

    def close(self) -> None:
        self._writer.shutdown()
        self._connections.close()


class _OneConnection:
    """The connection of every thread: another one would see another memory."""

    def get_for_this_thread(self) -> sqlite3.Connection:
        return self._connection

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA temp_store = MEMORY")
        return connection

    def close(self) -> None:
        self._connection.close()
