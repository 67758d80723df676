"""Search by meaning beside words, and without an embedder (P12, C58, C67)."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from shared import telemetry
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.adapters.sqlite_vectors import SqliteVectors
from shared.data.codec import dump
from shared.data.conversations import Conversations
from shared.data.library_index import LibraryIndex, summary_id
from shared.data.memories import memory_path
from shared.data.search import Search
from shared.domain.conversation import Conversation, Segment, Structured
from shared.domain.documents import Set
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memory import Memory
from shared.ports import Embedder

ANN = UserId("ann")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
INDEXES = FirestoreIndexes.read(Path(__file__).parents[3] / "infra/firestore.indexes.json")
MEANINGS = {"boat": 0, "yacht": 0, "soup": 1, "broth": 1}


@dataclass
class Thesaurus:
    """An embedder that knows four words; `down` fails every call."""

    name: str = "thesaurus"
    down: bool = False
    asked: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        if self.down:
            raise Unavailable("as the test wants it")
        self.asked += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Sequence[float]:
        vector = [0.01, 0.01, 0.1]
        for word in text.lower().split():
            if word in MEANINGS:
                vector[MEANINGS[word]] += 1.0
        return vector


@dataclass
class Library:
    documents: SqliteDocuments
    vectors: SqliteVectors

    def index(self, embedder: Embedder | None) -> LibraryIndex:
        return LibraryIndex(self.vectors, embedder)

    async def keep(self, embedder: Embedder | None, conversation: Conversation) -> None:
        stored = await Conversations(self.documents).add(ANN, conversation)
        segments = conversation.transcript_segments
        await self.index(embedder).put(ANN, replace(stored, transcript_segments=segments))

    async def ids(self, embedder: Embedder | None, question: str) -> list[str]:
        search = Search(self.documents, self.vectors, embedder)
        found = await search.conversations(ANN, question, limit=5)
        return [one.conversation.id for one in found]


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    yield Library(SqliteDocuments(database, INDEXES), SqliteVectors(database))
    database.close()


def talk(name: str, *texts: str) -> Conversation:
    return Conversation(
        id=ConversationId(name),
        created_at=NOON,
        started_at=NOON,
        finished_at=NOON,
        transcript_segments=tuple(Segment(text=text, speaker="Bea") for text in texts),
        structured=Structured(title="A talk"),
    )


async def test_p11_what_is_meant_is_found_in_other_words(library: Library):
    embedder = Thesaurus()
    await library.keep(embedder, talk("sea", "We bought the yacht"))
    await library.keep(embedder, talk("kitchen", "We made broth"))

    assert (await library.ids(embedder, "boat"))[0] == "sea"
    assert await library.ids(None, "boat") == []


async def test_c58_without_an_embedder_words_are_enough(library: Library):
    await library.keep(None, talk("sea", "We bought the yacht"))

    assert await library.ids(None, "yacht") == ["sea"]
    assert await library.ids(Thesaurus(), "yacht") == ["sea"]


@pytest.mark.parametrize(
    ("embedder", "path"),
    [
        (None, "words"),
        (Thesaurus(), "words and meanings"),
        (Thesaurus(down=True), "words, embedder down"),
    ],
)
async def test_c67_diagnostics_say_which_way_a_search_went(
    library: Library,
    embedder: Thesaurus | None,
    path: str,
):
    await library.keep(Thesaurus(), talk("sea", "We bought the yacht"))

    with telemetry.request("chat"):
        found = await library.ids(embedder, "yacht")
        facts = telemetry.facts()

    assert found == ["sea"]
    assert facts["retrieval_path"] == path


async def test_p12_unchanged_text_is_not_embedded_again(library: Library):
    embedder = Thesaurus()
    texts = [f"turn number{n}" for n in range(9)]
    await library.keep(embedder, talk("c", *texts))
    assert len(embedder.asked) == 10

    embedder.asked.clear()
    await library.index(embedder).put(ANN, replace(talk("c", *texts), chunk_count=9))
    assert embedder.asked == []

    edited = replace(talk("c", *texts[:-1], "the yacht"), chunk_count=9)
    await library.index(embedder).put(ANN, edited)
    assert "Bea: the yacht" in embedder.asked
    assert "Bea: turn number0" not in embedder.asked


async def test_p12_another_embedder_embeds_everything_anew(library: Library):
    await library.keep(Thesaurus(), talk("c", "the yacht"))
    other = Thesaurus(name="another")

    await library.index(other).put(ANN, talk("c", "the yacht"))

    assert set(other.asked) == {"Bea: the yacht", "A talk\n"}


async def test_c67_an_embedder_that_is_down_leaves_rows_that_words_find(library: Library):
    await library.keep(Thesaurus(down=True), talk("c", "the yacht"))

    rows = await library.vectors.fetch(ANN, [summary_id(ANN, ConversationId("c"))])

    assert [row.dense for row in rows.values()] == [None]
    assert await library.ids(None, "yacht") == ["c"]


async def test_an_embedder_that_is_down_takes_nothing_that_was_there(library: Library):
    embedder = Thesaurus()
    await library.keep(embedder, talk("c", "the yacht", "fine"))

    await library.index(Thesaurus(down=True)).put(ANN, talk("c", "the yacht", "fine"))

    assert await library.ids(embedder, "boat") == ["c"]


async def test_c66_memories_are_found_by_words_and_by_meaning(library: Library):
    embedder = Thesaurus()
    for name, content in (("m1", "Owns a yacht"), ("m2", "Likes broth")):
        memory = Memory(
            id=MemoryId(name), content=content, category="system", created_at=NOON, updated_at=NOON
        )
        await library.documents.write(Set(memory_path(ANN, memory.id), dump(memory)))
        await library.index(embedder).put_memories(ANN, [memory])

    found = await Search(library.documents, library.vectors, embedder).memories(
        ANN, "boat", limit=1
    )

    assert [memory.id for memory in found] == ["m1"]
