"""Known facts near to new ones: proposed by the encoder of this machine, or by words without one (C63)."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.search.library_index import LibraryIndex
from shared.data.search.search import Search
from shared.data.stores import Stores
from shared.domain.errors import Unavailable
from shared.domain.ids import MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.vectors import Filter, Hit, SparseVector
from shared.library.near_memories import MAX_FACTS, NEAR_PER_FACT, find_near_memories
from shared.ports import Embedder
from tests.fixtures.encoder import needs_encoder, open_encoder
from tests.fixtures.storage import INDEXES, open_database

ANN = UserId("ann")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FACTS = (
    "User is allergic to peanuts",
    "User works as a nurse at the children's hospital",
    "User has two daughters, Lena and Marie",
    "User drives an old green Volvo",
    "User is afraid of flying",
    "User takes medicine for high blood pressure",
    "User prefers tea to coffee",
    "User's brother Tom lives in Canada",
    "User sold the boat last year",
    "User volunteers at the library",
    "User's bike was stolen in Ghent",
    "User bakes bread on Saturdays",
)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Be asked once for the module, as the encoder is."""
    return "asyncio"


@pytest.fixture(scope="module")
async def search_by_meaning(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Search]:
    folder = tmp_path_factory.mktemp("near")
    with open_database(folder) as database:
        async with open_encoder() as embedder:
            yield await build_search(database, FACTS, embedder)


async def build_search(
    database: SqliteDatabase, facts: Sequence[str], embedder: Embedder | None = None
) -> Search:
    """Store and index facts."""
    documents, vectors = SqliteDocuments(database, INDEXES), SqliteVectors(database)
    stored = [
        await Stores(documents).memories.add(ANN, build_fact(n, fact))
        for n, fact in enumerate(facts)
    ]
    await LibraryIndex(vectors, embedder).put_memories(ANN, stored)
    return Search(documents, vectors, embedder)


def build_fact(number: int, content: str) -> Memory:
    at = NOON + timedelta(days=number)
    return Memory(
        id=MemoryId(f"m{number}"),
        content=content,
        category="system",
        created_at=at,
        updated_at=at,
    )


async def list_near(search: Search, *facts: str) -> list[str]:
    return [memory.content for memory in await find_near_memories(search, ANN, facts)]


@needs_encoder
@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("User cannot eat peanuts", 0),
        ("User does nursing for a living", 1),
        ("User is the parent of two girls", 2),
        ("User gets around in a Volvo of many years", 3),
        ("User fears planes", 4),
        ("User is on tablets against hypertension", 5),
        ("Nutzer hat Flugangst", 4),
        ("Ich darf keine Erdnüsse essen", 0),
    ],
)
async def test_a_fact_in_other_words_is_near_to_the_known_one_c63(
    search_by_meaning: Search, said: str, known: int
) -> None:
    near = await list_near(search_by_meaning, said)

    assert FACTS[known] in near
    assert len(near) == NEAR_PER_FACT


async def test_without_an_encoder_words_propose_c67(database: SqliteDatabase) -> None:
    search = await build_search(database, FACTS)

    assert await list_near(search, "User cannot eat peanuts") == [FACTS[0]]
    assert await list_near(search, "User's fear is a plane") == []


async def test_the_nearest_to_each_fact_come_first_and_each_once(database: SqliteDatabase) -> None:
    search = await build_search(database, FACTS)

    near = await list_near(search, "peanuts or bread", "the Volvo", "peanuts")

    assert near[:2] == [FACTS[0], FACTS[3]]
    assert sorted(near) == sorted([FACTS[0], FACTS[3], FACTS[11]])


async def test_of_many_facts_some_that_are_far_apart_are_compared(database: SqliteDatabase) -> None:
    facts = [f"User owns boat{n}" for n in range(2 * MAX_FACTS)]
    search = await build_search(database, facts)

    near = await list_near(search, *(f"boat{n}" for n in range(2 * MAX_FACTS)))

    assert near == facts[::2]
    assert len(await list_near(search, "own")) == NEAR_PER_FACT


class AbsentVectors(SqliteVectors):
    """An index that cannot be reached."""

    async def query_sparse(
        self, namespace: str, query: SparseVector, *, limit: int, where: Filter | None = None
    ) -> list[Hit]:
        raise Unavailable("away")


async def test_nothing_is_near_while_the_index_is_away_c67(database: SqliteDatabase) -> None:
    search = Search(SqliteDocuments(database, INDEXES), AbsentVectors(database))

    assert await list_near(search, "peanuts") == []
