from typing import cast

import anyio
import pytest
from google.api_core.exceptions import InvalidArgument
from google.cloud.firestore import AsyncClient

from infra.emulators.process import HOST, find_free_port
from shared.adapters.cloud.firestore_documents import (
    DUE_GROUPS,
    FirestoreDocuments,
    _FirestoreTransaction,
    _translate_errors,
)
from shared.adapters.store_clock import StoreClock
from shared.adapters.system_clock import SystemClock
from shared.domain.errors import Invalid, Unavailable
from shared.domain.store.documents import Set
from shared.ports import Documents, Transaction
from tests.fixtures.storage import INDEXES


async def test_a_missing_emulator_raises_unavailable_at_once(monkeypatch: pytest.MonkeyPatch):
    address = f"{HOST}:{find_free_port()}"
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", address)
    client = AsyncClient(project="test")

    with pytest.raises(Unavailable, match=f"No Firestore emulator answers at {address}"):
        FirestoreDocuments(client, StoreClock(SystemClock()))


@pytest.mark.emulators
async def test_a_commit_that_is_sent_again_after_a_lost_answer_may_have_been_written(
    firestore_documents: Documents,
):
    """The store calls the second one an invalid argument, though nothing is wrong with what is written."""

    async def write_and_lose_the_answer(tx: Transaction) -> None:
        tx.write(Set("notes/a", {"rank": 1}))
        api = cast("_FirestoreTransaction", tx)
        await api._client._firestore_api.commit(
            request={"database": api._client._database_string, "transaction": api._transaction.id}
        )

    with pytest.raises(Unavailable, match="may have been written"):
        await firestore_documents.transaction(write_and_lose_the_answer)


@pytest.mark.parametrize(
    "message",
    [
        "The referenced transaction has expired or is no longer valid.",
        "Transaction is invalid or closed.",
    ],
)
async def test_a_transaction_that_is_over_is_an_outage(message: str):
    with pytest.raises(Unavailable):
        async with _translate_errors():
            raise InvalidArgument(message)


async def test_another_invalid_argument_is_one():
    with pytest.raises(Invalid, match="too long"):
        async with _translate_errors():
            raise InvalidArgument("The key path element name is too long.")


@pytest.mark.emulators
async def test_a_transaction_that_never_began_stores_nothing_and_can_be_repeated(
    firestore_documents: Documents,
):
    """Its rollback does not hide why it did not begin: the client calls that a ValueError."""

    async def write(tx: Transaction) -> None:
        tx.write(Set("notes/a", {"rank": 1}))

    with pytest.raises(TimeoutError), anyio.fail_after(0):
        await firestore_documents.transaction(write)

    assert await firestore_documents.get("notes/a") is None
    await firestore_documents.transaction(write)
    stored = await firestore_documents.get("notes/a")
    assert stored is not None
    assert stored.fields == {"rank": 1}


def test_what_is_looked_for_when_it_is_due_has_its_index():
    assert INDEXES.due_groups == DUE_GROUPS
