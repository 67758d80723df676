"""Documents of which those of incognito chats stay in memory: by path, by query, and in transactions."""

from collections.abc import AsyncIterator
from contextlib import closing

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.incognito_documents import IncognitoDocuments
from shared.adapters.memory_database import MemoryDatabase
from shared.domain.errors import AlreadyExists
from shared.domain.store.documents import Create, Delete, Query, Set, Update, Where
from shared.ports import Documents, Transaction
from tests.fixtures.storage import INDEXES

STORED, APART = "users/ann/messages/m1", "users/ann/messages/incognito-m2"
SLOT = "users/ann/limits/turn-1"


@pytest.fixture
async def memory() -> AsyncIterator[Documents]:
    with closing(MemoryDatabase()) as database:
        yield SqliteDocuments(database, INDEXES)


@pytest.fixture
def both(documents: Documents, memory: Documents) -> Documents:
    return IncognitoDocuments(documents, lambda: memory)


async def test_a_document_goes_where_its_id_says_c68(
    both: Documents, documents: Documents, memory: Documents
) -> None:
    await both.write(Create(STORED, {"n": 1}), Create(APART, {"n": 2}), Create(SLOT, {"n": 3}))

    found = await both.get_many([APART, SLOT, "users/ann/messages/none", STORED])

    assert [d and d.fields["n"] for d in found] == [2, 3, None, 1]
    assert await documents.get(APART) is None
    assert await memory.get(STORED) is await memory.get(SLOT) is None


async def test_what_belongs_to_an_incognito_chat_is_never_stored_c68(
    both: Documents, documents: Documents
) -> None:
    await both.write(Create("users/ann/messages/m9", {"session_id": "incognito-s1"}))

    assert await documents.get("users/ann/messages/m9") is None


async def test_queries_follow_the_chat_that_they_name_c68(both: Documents) -> None:
    await both.write(
        Create(STORED, {"session_id": "main"}), Create(APART, {"session_id": "incognito-s1"})
    )

    async def find(session_id: str) -> list[str]:
        where = (Where("session_id", "==", session_id),)
        query = Query(collection="users/ann/messages", where=where)
        assert await both.count(query) == 1
        return [document.path for document in await both.query(query)]

    assert await find("main") == [STORED]
    assert await find("incognito-s1") == [APART]
    everything = await both.query(Query(collection="users/ann/messages"))
    assert [document.path for document in everything] == [STORED]


async def test_nothing_is_kept_apart_where_the_store_refuses_c68(
    both: Documents, memory: Documents
) -> None:
    await both.write(Create(SLOT, {}))

    with pytest.raises(AlreadyExists):
        await both.write(Create(APART, {}), Create(SLOT, {}))

    assert await memory.get(APART) is None


@pytest.mark.parametrize("path", [STORED, APART])
async def test_a_transaction_runs_where_its_documents_are_c68(both: Documents, path: str) -> None:
    await both.write(Set(path, {"n": 1}))

    async def double(transaction: Transaction) -> int:
        document = await transaction.get(path)
        assert document is not None
        transaction.write(Update(path, {"n": document.fields["n"] * 2}))
        return 7

    assert await both.transaction(double) == 7
    document = await both.get(path)
    assert document is not None
    assert document.fields == {"n": 2}


async def test_a_tree_is_deleted_where_it_is_c68(both: Documents) -> None:
    batch = "users/ann/runs/incognito-r1/batches/1"
    await both.write(Create(batch, {}), Create(STORED, {}))
    listed = await both.query(Query(collection="users/ann/runs/incognito-r1/batches"))

    assert [document.path for document in listed] == [batch]
    assert await both.delete_tree("users/ann/runs/incognito-r1") == 1
    await both.write(Delete(STORED))
    assert await both.get_many([batch, STORED]) == [None, None]
