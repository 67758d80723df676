"""Deadlines around calls of gRPC: a call to a server that is silent ends with its deadline, and no more."""

import asyncio
import gc
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import closing
from typing import Any

import anyio
import pytest
from google.cloud.firestore import AsyncClient

from shared.adapters.cloud.firestore_documents import FirestoreDocuments
from shared.adapters.cloud.google_tasks import GoogleTasks
from shared.adapters.cloud.grpc_cancellation import keep_cancellation
from shared.adapters.cloud.kms_keys import KmsKeys
from shared.adapters.store_clock import StoreClock
from shared.adapters.system_clock import SystemClock
from shared.domain.errors import Unavailable
from shared.domain.store.documents import Create, Query
from shared.ports import Documents, Transaction
from tests.servers.cloud_tasks import QUEUE
from tests.servers.kms import KEY

DEADLINE_S = 0.05


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", autouse=True)
async def one_loop() -> AsyncIterator[None]:
    """Keep one loop for all tests: gRPC reports the end of a cancelled call to the loop that made it, late."""
    yield
    gc.collect()  # with the last channel gRPC stops to report


@pytest.fixture
def silent_server() -> Iterator[str]:
    """A server that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
async def documents(
    silent_server: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Documents]:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", silent_server)
    with closing(AsyncClient(project="demo")) as client:
        yield FirestoreDocuments(client, StoreClock(SystemClock()))


async def read_in_transaction(documents: Documents) -> None:
    async def work(tx: Transaction) -> None:
        await tx.get("notes/a")

    await documents.transaction(work)


CALLS: dict[str, Callable[[Documents], Coroutine[Any, Any, object]]] = {
    "get": lambda documents: documents.get("notes/a"),
    "query": lambda documents: documents.query(Query(collection="notes")),
    "count": lambda documents: documents.count(Query(collection="notes")),
    "write": lambda documents: documents.write(Create("notes/a", {"rank": 1})),
    "transaction": read_in_transaction,
    "delete_tree": lambda documents: documents.delete_tree("notes/a"),
}


@pytest.mark.parametrize("name", list(CALLS))
async def test_a_call_to_firestore_ends_with_its_deadline(documents: Documents, name: str):
    with anyio.move_on_after(DEADLINE_S) as scope:
        await CALLS[name](documents)

    assert scope.cancelled_caught


async def test_a_task_and_a_key_end_with_their_deadline(silent_server: str):
    tasks = GoogleTasks(
        queues=[QUEUE], url=str, accounts={"sweep": "a@example.com"}, address=silent_server
    )
    keys = KmsKeys(KEY, address=silent_server)

    with anyio.move_on_after(DEADLINE_S) as creating:
        await tasks.create("sweep", "a", {})
    with anyio.move_on_after(DEADLINE_S) as wrapping:
        await keys.wrap(b"secret", bound_to="ann")

    assert (creating.cancelled_caught, wrapping.cancelled_caught) == (True, True)


async def test_a_task_that_is_cancelled_stays_cancelled(documents: Documents):
    task: asyncio.Task[object] = asyncio.create_task(CALLS["get"](documents))
    await anyio.sleep(DEADLINE_S)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_call_that_nobody_cancelled_is_an_outage():
    with pytest.raises(Unavailable):
        async with keep_cancellation():
            raise asyncio.CancelledError
