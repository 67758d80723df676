"""A change of a document and what it triggers are stored together."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_queue import SqliteQueue, SqliteTriggers
from tests.fakes import FixedClock

PATTERNS = {"users/{uid}/conversations/{id}": "on_conversation_written"}
PATH = "users/alice/conversations/c1"


@pytest.fixture
def queue(database: SqliteDatabase) -> SqliteQueue:
    return SqliteQueue(database, FixedClock())


async def _change(
    queue: SqliteQueue, path: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None
) -> None:
    triggers = SqliteTriggers(queue, PATTERNS)
    await queue.database.write(lambda connection: triggers(connection, path, old, new))


@pytest.mark.parametrize(("old", "new"), [(None, {"a": 1}), ({"a": 1}, {"a": 2}), ({"a": 1}, None)])
async def test_a_change_queues_its_old_and_new_value(
    queue: SqliteQueue, old: Any, new: Any
) -> None:
    await _change(queue, PATH, old, new)

    [job] = await queue.claim(10)
    assert (job.target, job.name) == ("on_conversation_written", PATH)
    assert job.body == {"old": old, "new": new}


async def test_times_bytes_and_lists_are_queued_unchanged(queue: SqliteQueue) -> None:
    fields = {
        "at": datetime(2026, 3, 2, 12, 0, 0, 1, tzinfo=UTC),
        "audio": b"\x00\xff",
        "tags": ["time", "2026", {"deep": [1, 2.5, None]}],
    }

    await _change(queue, PATH, None, fields)

    [job] = await queue.claim(10)
    assert job.body["new"] == fields


@pytest.mark.parametrize(
    "path",
    ["users/alice", "users/alice/memories/m1", "users/alice/conversations/c1/parts/0", "x/" + PATH],
)
async def test_changes_of_other_documents_queue_nothing(queue: SqliteQueue, path: str) -> None:
    await _change(queue, path, None, {"a": 1})

    assert await queue.claim(10) == []


async def test_a_write_that_changes_nothing_queues_nothing(queue: SqliteQueue) -> None:
    await _change(queue, PATH, {"a": 1}, {"a": 1})

    assert await queue.claim(10) == []


async def test_a_rolled_back_change_queues_nothing(queue: SqliteQueue) -> None:
    triggers = SqliteTriggers(queue, PATTERNS)

    def fail(connection: Any) -> None:
        triggers(connection, PATH, None, {"a": 1})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await queue.database.write(fail)

    assert await queue.claim(10) == []
