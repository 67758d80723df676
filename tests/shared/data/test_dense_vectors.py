"""Dense vectors: search with an embedder, without one, and through its outage (P12, C58, C67)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from shared import telemetry
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.conversations.conversations import Conversations
from shared.data.memories.memories import memory_path
from shared.data.search.library_index import LibraryIndex, summary_id
from shared.data.search.search import Search
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Conversation, Segment, Structured
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Set
from shared.domain.store.vectors import Row
from shared.ports import Documents, Embedder

ANN = UserId("ann")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
FILLER = "x" * 180  # three such turns are a window
DIMENSION_BY_WORD = {"boat": 0, "yacht": 0, "soup": 1, "broth": 1}


@dataclass
class ThesaurusEmbedder:
    """An embedder that knows four words; `down` fails every call."""

    name: str = "thesaurus"
    is_down: bool = False
    embeds_later: bool = False
    embedded_texts: list[str] = field(default_factory=list)

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        if self.is_down:
            raise Unavailable("as the test wants it")
        self.embedded_texts += texts
        return [self._vector(text) for text in texts]

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        [vector] = await self.embed(uid, [question])
        return vector

    def _vector(self, text: str) -> Sequence[float]:
        vector = [0.01, 0.01, 0.1]
        for word in text.lower().split():
            if word in DIMENSION_BY_WORD:
                vector[DIMENSION_BY_WORD[word]] += 1.0
        return vector


class RecordingVectors(SqliteVectors):
    """Vectors that note the ids that are fetched."""

    def __init__(self, database: SqliteDatabase) -> None:
        super().__init__(database)
        self.fetched_ids: list[str] = []

    async def fetch(self, namespace: str, ids: Sequence[str]) -> dict[str, Row]:
        self.fetched_ids += ids
        return await super().fetch(namespace, ids)


def owns_yacht(name: str) -> Memory:
    return Memory(
        id=MemoryId(name),
        content="Owns a yacht",
        category="system",
        created_at=NOON,
        updated_at=NOON,
    )


@dataclass
class DenseSearchFixture:
    documents: Documents
    vectors: SqliteVectors

    def build_index(self, embedder: Embedder | None) -> LibraryIndex:
        return LibraryIndex(self.vectors, embedder)

    async def store(self, embedder: Embedder | None, conversation: Conversation) -> None:
        stored_conversation = await Conversations(self.documents).add(ANN, conversation)
        segments = conversation.transcript_segments
        await self.build_index(embedder).put(
            ANN, replace(stored_conversation, transcript_segments=segments)
        )

    async def search_ids(self, embedder: Embedder | None, question: str) -> list[str]:
        search = Search(self.documents, self.vectors, embedder)
        hits = await search.search_conversations(ANN, question, limit=5)
        return [hit.conversation.id for hit in hits]


@pytest.fixture
def library(documents: Documents, vectors: SqliteVectors) -> DenseSearchFixture:
    return DenseSearchFixture(documents, vectors)


def talk(name: str, *texts: str) -> Conversation:
    return Conversation(
        id=ConversationId(name),
        created_at=NOON,
        started_at=NOON,
        finished_at=NOON,
        transcript_segments=tuple(Segment(text=text, speaker="Bea") for text in texts),
        structured=Structured(title="A talk"),
    )


async def test_a_synonym_is_found_by_its_dense_vector_p11(library: DenseSearchFixture):
    embedder = ThesaurusEmbedder()
    await library.store(embedder, talk("sea", "We bought the yacht"))
    await library.store(embedder, talk("kitchen", "We made broth"))

    assert (await library.search_ids(embedder, "boat"))[0] == "sea"
    assert await library.search_ids(None, "boat") == []


async def test_search_works_without_an_embedder_c58(library: DenseSearchFixture):
    await library.store(None, talk("sea", "We bought the yacht"))

    assert await library.search_ids(None, "yacht") == ["sea"]
    assert await library.search_ids(ThesaurusEmbedder(), "yacht") == ["sea"]


@pytest.mark.parametrize(
    ("embedder", "path"),
    [
        (None, "words"),
        (ThesaurusEmbedder(), "words and meanings"),
        (ThesaurusEmbedder(is_down=True), "words, embedder down"),
    ],
)
async def test_diagnostics_name_the_retrieval_path_c67(
    library: DenseSearchFixture,
    embedder: ThesaurusEmbedder | None,
    path: str,
):
    await library.store(ThesaurusEmbedder(), talk("sea", "We bought the yacht"))

    with telemetry.log_request("chat"):
        ids = await library.search_ids(embedder, "yacht")
        facts = telemetry.get_fields()

    assert ids == ["sea"]
    assert facts["retrieval_path"] == path


async def test_an_edited_turn_is_embedded_with_its_window_and_no_other_p12_d4(
    library: DenseSearchFixture,
):
    embedder = ThesaurusEmbedder()
    texts = [f"turn number{n} {FILLER}" for n in range(9)]
    await library.store(embedder, talk("c", *texts))
    assert len(embedder.embedded_texts) == 4

    embedder.embedded_texts.clear()
    await library.build_index(embedder).put(ANN, replace(talk("c", *texts), chunk_count=9))
    assert embedder.embedded_texts == []

    texts[5] = f"the yacht {FILLER}"
    edited = replace(talk("c", *texts), chunk_count=9)
    await library.build_index(embedder).put(ANN, edited)
    assert embedder.embedded_texts == ["\n".join(f"Bea: {texts[n]}" for n in (3, 4, 5))]


async def test_a_window_found_by_meaning_leads_to_its_exact_turns_d4(library: DenseSearchFixture):
    embedder = ThesaurusEmbedder()
    long_turn = " ".join(["nothing"] * 200)  # two rows of the index
    await library.store(
        embedder, talk("c", "a", "b", long_turn, "c", "d", "e", "the yacht", FILLER * 4)
    )

    [found] = await Search(library.documents, library.vectors, embedder).search_conversations(
        ANN, "boat", limit=5
    )

    best = max(found.turns.values())
    assert {turn for turn, score in found.turns.items() if score == best} == {4, 5, 6}
    assert "the yacht" in found.passages[0].text


async def test_one_row_of_a_window_has_its_dense_values_d4(library: DenseSearchFixture):
    texts = ["a", "b", "c", f"d{FILLER}", "the yacht " + 3 * FILLER]
    await library.store(ThesaurusEmbedder(), talk("c", *texts))

    rows = await library.vectors.fetch(ANN, [f"ann-c#{n}" for n in range(5)])

    windows = {row_id: row.metadata["window"] for row_id, row in rows.items() if row.dense}
    assert windows == {"ann-c#0": ["0", "1", "2", "3"], "ann-c#4": ["4"]}
    assert all(("window" in row.metadata) == bool(row.dense) for row in rows.values())


async def test_rows_with_dense_values_of_their_own_are_found_beside_windows_d4(
    library: DenseSearchFixture,
):
    """Rows of earlier versions name no window; both kinds are there while rows are made anew."""
    embedder = ThesaurusEmbedder()
    await library.store(embedder, talk("old", "soup", "the yacht"))
    await library.store(embedder, talk("new", "soup", "the yacht"))
    rows = await library.vectors.fetch(ANN, ["ann-old#1"])
    [vector] = await embedder.embed(ANN, ["the yacht"])
    own = [replace(row, dense=tuple(vector)) for row in rows.values()]
    await library.vectors.upsert(ANN, own)

    assert set(await library.search_ids(embedder, "boat")) == {"old", "new"}


async def test_a_first_indexing_fetches_no_rows_d4(database: SqliteDatabase):
    vectors = RecordingVectors(database)
    index = LibraryIndex(vectors, ThesaurusEmbedder())

    await index.put(ANN, talk("c", "the yacht"), [owns_yacht("m1")])
    assert vectors.fetched_ids == []

    await index.put(ANN, replace(talk("c", "the yacht"), chunk_count=1))
    await index.put(ANN, replace(talk("c"), processed_hash="of no words"))
    assert vectors.fetched_ids == ["ann-c", "ann-c#0", "ann-c"]


async def test_another_embedder_embeds_everything_again_p12(library: DenseSearchFixture):
    await library.store(ThesaurusEmbedder(), talk("c", "the yacht"))
    other_embedder = ThesaurusEmbedder(name="another")

    await library.build_index(other_embedder).put(ANN, talk("c", "the yacht"))

    assert set(other_embedder.embedded_texts) == {"Bea: the yacht", "A talk\n"}


async def test_rows_indexed_while_the_embedder_is_down_are_found_by_words_c67(
    library: DenseSearchFixture,
):
    await library.store(ThesaurusEmbedder(is_down=True), talk("c", "the yacht"))

    rows = await library.vectors.fetch(ANN, [summary_id(ANN, ConversationId("c"))])

    assert [row.dense for row in rows.values()] == [None]
    assert await library.search_ids(None, "yacht") == ["c"]


async def test_an_embedder_outage_preserves_stored_dense_vectors(library: DenseSearchFixture):
    embedder = ThesaurusEmbedder()
    await library.store(embedder, talk("c", "the yacht", "fine"))

    await library.build_index(ThesaurusEmbedder(is_down=True)).put(
        ANN, replace(talk("c", "the yacht", "fine"), chunk_count=2)
    )

    assert await library.search_ids(embedder, "boat") == ["c"]


async def test_memories_are_found_by_words_and_by_meaning_c66(library: DenseSearchFixture):
    embedder = ThesaurusEmbedder()
    for name, content in (("m1", "Owns a yacht"), ("m2", "Likes broth")):
        memory = Memory(
            id=MemoryId(name), content=content, category="system", created_at=NOON, updated_at=NOON
        )
        await library.documents.write(Set(memory_path(ANN, memory.id), dump(memory)))
        await library.build_index(embedder).put_memories(ANN, [memory])

    memories = await Search(library.documents, library.vectors, embedder).search_memories(
        ANN, "boat", limit=1
    )

    assert [memory.id for memory in memories] == ["m1"]


async def test_what_is_embedded_later_is_found_by_words_at_once_e1(library: DenseSearchFixture):
    embedder = ThesaurusEmbedder(embeds_later=True)
    await library.store(embedder, talk("sea", "We bought the yacht"))

    assert await library.search_ids(embedder, "yacht") == ["sea"]
    assert await library.search_ids(embedder, "boat") == []
    waiting = await library.vectors.list_waiting(5)
    await library.vectors.add_dense(
        waiting, await embedder.embed(ANN, [each.text for each in waiting])
    )
    assert await library.search_ids(embedder, "boat") == ["sea"]


async def test_an_unchanged_text_keeps_its_embedding_and_waits_no_more_e1(
    library: DenseSearchFixture,
):
    stored = ThesaurusEmbedder()
    await library.store(stored, talk("sea", "We bought the yacht"))
    index = library.build_index(ThesaurusEmbedder(embeds_later=True))

    await index.put(ANN, replace(talk("sea", "We bought the yacht"), chunk_count=1))

    assert await library.vectors.count_waiting() == 0
    assert await library.search_ids(stored, "boat") == ["sea"]


async def test_words_find_one_turn_of_the_window_that_begins_with_it_d4(
    library: DenseSearchFixture,
):
    await library.store(ThesaurusEmbedder(), talk("c", "a heron", "b", "c"))

    [found] = await Search(library.documents, library.vectors).search_conversations(
        ANN, "heron", limit=5
    )

    assert max(found.turns, key=lambda turn: found.turns[turn]) == 0
    assert len(set(found.turns.values())) == len(found.turns)
