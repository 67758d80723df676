"""Embedded triggers: a written document reaches a function as the cloud would send it (P28)."""

import httpx

from infra.local.queue_worker import HttpDelivery, QueueWorker
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_queue import SqliteQueue, SqliteTriggers
from shared.domain.store.documents import Delete, Set
from shared.edge.declare.cloudevents import DocumentChange, parse_document_change
from tests.fakes import FixedClock
from tests.fixtures.callers import SERVICE_IDENTITY
from tests.fixtures.storage import INDEXES
from tests.servers import run_server
from tests.servers.receiver import Receiver

PATH = "users/alice/conversations/c1"
FIRST = {"title": "Café", "at": FixedClock().now(), "tags": ["a", {"b": 1.5}], "raw": b"\x00"}
SECOND = {**FIRST, "title": "Bakery"}


async def test_creates_updates_and_deletes_reach_the_function(database: SqliteDatabase) -> None:
    function = Receiver()
    queue = SqliteQueue(database, FixedClock())
    documents = SqliteDocuments(
        queue.database,
        INDEXES,
        on_change=SqliteTriggers(
            queue, {"users/{uid}/conversations/{id}": "on_conversation_written"}
        ),
    )

    await documents.write(Set(PATH, FIRST))
    await documents.write(Set(PATH, SECOND))
    await documents.write(Set(PATH, SECOND))
    await documents.write(Delete(PATH))
    await _deliver(queue, function)

    changes = [parse_document_change(*await function.wait_for_request()) for _ in range(3)]
    assert sorted(changes, key=str) == sorted(
        [
            DocumentChange(path=PATH, old=None, new=FIRST),
            DocumentChange(path=PATH, old=FIRST, new=SECOND),
            DocumentChange(path=PATH, old=SECOND, new=None),
        ],
        key=str,
    )
    assert function.is_empty


async def _deliver(queue: SqliteQueue, function: Receiver) -> None:
    with run_server(function.app) as url:
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
            delivery = HttpDelivery(
                client, SERVICE_IDENTITY, url=f"{url}/{{}}".format, project="demo"
            )
            await QueueWorker(queue, delivery).drain()
