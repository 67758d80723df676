"""Embedder that is paid: what it reads counts, and beyond the day's quota words are all there is (S5)."""

from collections.abc import Sequence

from shared.adapters.counted_embedder import CountedEmbedder
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.account.quotas import Quotas
from shared.data.search.library_index import LibraryIndex, memory_row_id
from shared.domain.errors import Unavailable
from shared.domain.ids import MemoryId, UserId
from shared.domain.memories.memory import Memory
from tests.fakes import FixedClock
from tests.fixtures.storage import INDEXES

ANN = UserId("ann")
NOW = FixedClock().now()


class PaidEmbedder:
    name = "paid"
    embeds_later = False

    def __init__(self) -> None:
        self.is_down = False

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        if self.is_down:
            raise Unavailable("as the test wants it")
        return [(1.0, 0.0) for _ in texts]

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        return (1.0, 0.0)


async def test_what_a_paid_embedder_reads_counts_and_beyond_the_day_words_are_indexed_alone_s5(
    database: SqliteDatabase,
) -> None:
    vectors, embedder = SqliteVectors(database), PaidEmbedder()
    quotas = Quotas(SqliteDocuments(database, INDEXES), {"reading_tokens": 12})
    index = LibraryIndex(vectors, CountedEmbedder(embedder, quotas, FixedClock()))

    async def put(name: str) -> tuple[bool, bool, int]:
        """Index a fact of some seven tokens; tell whether it has words and a vector, and what was used."""
        memory = Memory(
            id=MemoryId(name),
            content=f"Ann likes the {name}.",
            category="interesting",
            created_at=NOW,
            updated_at=NOW,
        )
        await index.put_memories(ANN, [memory])
        row_id = memory_row_id(ANN, memory.id)
        row = (await vectors.fetch(ANN, [row_id]))[row_id]
        usage = await quotas.load_usage(ANN, NOW)
        return bool(row.sparse.indices), bool(row.dense), usage["reading_tokens"]

    embedder.is_down = True
    down = await put("tea")
    embedder.is_down = False
    read, beyond = await put("tea"), await put("coffee")

    assert down == (True, False, 0)
    assert read[:2] == (True, True)
    assert 0 < read[2] <= 12
    assert beyond == (True, False, read[2])
