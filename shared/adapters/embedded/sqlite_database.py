"""SQLite database of the embedded world: one file behind one writer thread and a few readers.

Also called: connection pooling, local database.
"""

import asyncio
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from typing import Protocol, TypeVar

from shared.adapters.embedded.data_folder import close_file, prepare_file, prepare_folder
from shared.domain.errors import Unavailable

T = TypeVar("T")

LAYOUT_VERSION = 1
"""The version of the tables; raised with every change that older files lack."""
MAX_READERS = 4
BUSY_TIMEOUT_S = 10.0
WRITES_PER_CHECKPOINT = 200
"""So many brief writes, of some five pages each, then one in a thread, which copies a log of 1,000 pages into the file."""
BUSY_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_RESTORE = "restore a backup (docs/operate.md), or choose another place with DATA_DIR=elsewhere"
_LET_WRITE = "let this account write it and its folder"
_REPAIRS = {
    sqlite3.SQLITE_CORRUPT: _RESTORE,
    sqlite3.SQLITE_NOTADB: _RESTORE,
    sqlite3.SQLITE_CANTOPEN: _LET_WRITE,
    sqlite3.SQLITE_READONLY: _LET_WRITE,
}
"""What an operator does about an error that stays, by its code."""
_DISK_CODES = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}


class DatabaseUnusable(Exception):
    """The file cannot be read or written; the message says why, and what to do."""


class LayoutMismatch(DatabaseUnusable):
    """The file has the tables of another version; the message says what to do."""

    def __init__(self, path: Path, layout: int) -> None:
        super().__init__(
            f"{path} was made by another version of Keepsake (layout {layout}, this one reads "
            f"{LAYOUT_VERSION}): move it away, or choose another place with DATA_DIR=elsewhere make run"
        )


class _Busy(Exception):
    """Another connection writes: what is brief goes on in a thread, which may wait."""


class Connections(Protocol):
    """Connections to one database, by threads."""

    def get_for_this_thread(self) -> sqlite3.Connection: ...

    def close(self) -> None: ...


class SqliteDatabase:
    """One SQLite file that several processes may share; it is opened on first use.

    Work runs in threads, so that the event loop never waits for the disk. What is brief runs in the event
    loop: to hand it to a thread and back takes longer than most of it. It waits there for nobody: where the
    file is busy, a thread goes on. Both `read` and `write` raise Unavailable when another process keeps the
    file busy or the disk is full, and DatabaseUnusable.
    """

    def __init__(self, path: Path) -> None:
        _prepare_files(path)
        self._path = path
        self._pending_schema: list[str] = []
        self._connections: Connections = _Connections(path)
        self._brief_connections: Connections = _Connections(path, waits=False)
        self._brief_writes = 0
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="sqlite-writer")
        self._readers = ThreadPoolExecutor(MAX_READERS, thread_name_prefix="sqlite-reader")
        self._close = weakref.finalize(
            self, _close, self._writer, self._readers, self._connections, self._brief_connections
        )

    def add_schema(self, sql: str) -> None:
        """Register `sql` for the tables that an adapter needs; it runs before the next work.

        Every process runs it, so each statement must be `CREATE … IF NOT EXISTS` or `DROP … IF EXISTS`.
        """
        self._pending_schema.append(sql)

    async def read(self, work: Callable[[sqlite3.Connection], T], *, is_brief: bool = False) -> T:
        """Run `work` on one snapshot of the database; it sees every write that has returned."""
        if self._pending_schema:
            await self.write(lambda _: None)  # it creates the tables
        if is_brief:
            with suppress(_Busy):
                return await self._run_briefly("BEGIN", work)
        return await self._run(self._readers, "BEGIN", work)

    async def write(self, work: Callable[[sqlite3.Connection], T], *, is_brief: bool = False) -> T:
        """Run `work` in an exclusive transaction.

        All its changes are stored, or none if it raises.
        """
        self._brief_writes += is_brief
        copies_log = self._brief_writes % WRITES_PER_CHECKPOINT == 0
        if is_brief and not copies_log and not self._pending_schema:
            with suppress(_Busy):
                return await self._run_briefly("BEGIN IMMEDIATE", work)
        return await self._run(self._writer, "BEGIN IMMEDIATE", work)

    async def remove_deleted_data(self) -> None:
        """Rewrite the file without what was deleted, and cut its log to nothing.

        Deleted rows are overwritten at once, but not the copies of their keys that stay behind where
        SQLite balances a tree. The work grows with all that is stored. Waits for readers of all processes, each for one snapshot. Raises Unavailable if they do not
        end.
        """

        def rewrite() -> None:
            connection = self._connections.get_for_this_thread()
            try:
                connection.execute("VACUUM")
            except sqlite3.OperationalError as error:
                raise Unavailable("The database cannot be rewritten now") from error
            (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if is_busy:
                raise Unavailable("The log of the database is in use")

        await asyncio.get_running_loop().run_in_executor(self._writer, rewrite)

    def close(self) -> None:
        """Finish running work and close the file; an unused database closes itself."""
        self._writer.shutdown()
        self._readers.shutdown()
        self._close()

    async def _run(
        self, threads: Executor, begin: str, work: Callable[[sqlite3.Connection], T]
    ) -> T:
        def run() -> T:
            connection = self._connections.get_for_this_thread()
            if threads is self._writer:
                self._create_tables(connection)
            return _transact(connection, begin, work)

        context = copy_context()  # a trigger's job belongs to the trace of who wrote
        with _explain_errors(self._path):
            return await asyncio.get_running_loop().run_in_executor(threads, context.run, run)

    async def _run_briefly(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in the event loop, then let others have a turn. Raises _Busy."""
        with _explain_errors(self._path, busy=_Busy):
            value = _transact(self._brief_connections.get_for_this_thread(), begin, work)
        await asyncio.sleep(0)
        return value

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        while self._pending_schema:
            connection.executescript(f"BEGIN IMMEDIATE; {self._pending_schema[0]}; COMMIT")
            del self._pending_schema[0]


class _Connections:
    """One connection for each thread, and all of them for closing."""

    def __init__(self, path: Path, *, waits: bool = True) -> None:
        self._path = path
        self._waits = waits
        self._all: list[sqlite3.Connection] = []
        self._local = threading.local()

    def get_for_this_thread(self) -> sqlite3.Connection:
        if not hasattr(self._local, "connection"):
            self._local.connection = _open(self._path)
            if not self._waits:
                self._local.connection.execute("PRAGMA busy_timeout = 0")
                self._local.connection.execute("PRAGMA wal_autocheckpoint = 0")
            self._all.append(self._local.connection)
        connection: sqlite3.Connection = self._local.connection
        return connection

    def close(self) -> None:
        while self._all:
            self._all.pop().close()


def _prepare_files(path: Path) -> None:
    """Let no other account read the database; SQLite gives new files beside it the same mode."""
    prepare_folder(path.parent)
    prepare_file(path)
    for beside in (path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        with suppress(FileNotFoundError):
            close_file(beside)


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        _use_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten
        _check_layout(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_layout(connection: sqlite3.Connection, path: Path) -> None:
    """Stamp a new file with our layout. Raises LayoutMismatch."""
    if _read_layout(connection) == LAYOUT_VERSION:
        return

    def mark(connection: sqlite3.Connection) -> int:
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not tables and not _read_layout(connection):
            connection.execute(f"PRAGMA user_version = {LAYOUT_VERSION}")
        return _read_layout(connection)

    layout = _transact(connection, "BEGIN IMMEDIATE", mark)
    if layout != LAYOUT_VERSION:
        raise LayoutMismatch(path, layout)


def _read_layout(connection: sqlite3.Connection) -> int:
    layout: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return layout


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch the file to WAL; SQLite's own timeout does not cover the switch."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


@contextmanager
def _explain_errors(path: Path, *, busy: type[Exception] = Unavailable) -> Iterator[None]:
    """Raises `busy` where another connection holds the file, Unavailable, and DatabaseUnusable."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if _is_busy(error):
            raise busy("The database is busy") from error
        if _find_kind(error) in _DISK_CODES:
            raise Unavailable(f"{path}: {error}: make room on its disk") from error
        if repair := _REPAIRS.get(_find_kind(error)):
            raise DatabaseUnusable(f"{path}: {error}: {repair}") from error
        raise


def _is_busy(error: sqlite3.DatabaseError) -> bool:
    return _find_kind(error) in BUSY_CODES


def _find_kind(error: sqlite3.DatabaseError) -> int:
    """Return the lower byte of the code; the rest says more. Errors of Python's module have none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _transact(
    connection: sqlite3.Connection,
    begin: str,
    work: Callable[[sqlite3.Connection], T],
) -> T:
    connection.execute(begin)
    try:
        value = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return value


def _close(writer: Executor, readers: Executor, *connections: Connections) -> None:
    # The garbage collector may call this from one of these threads, which cannot wait for itself.
    writer.shutdown(wait=False)
    readers.shutdown(wait=False)
    for each in connections:
        each.close()
