"""Reindexing: rows of an older index version are built again (P12)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from infra.reindex import reindex, reindex_files
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.account.quotas import Quotas
from shared.data.conversations.conversations import Conversations, conversation_path
from shared.data.conversations.recordings import recording_path
from shared.data.files.files import Files
from shared.data.memories.memories import memory_path
from shared.data.search.file_index import FileIndex
from shared.data.search.library_index import SEARCHED_INDEX_VERSIONS, LibraryIndex
from shared.data.search.search import Search
from shared.data.store.codec import dump
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.conversations.recording import Recording
from shared.domain.files.file import File, Page
from shared.domain.files.upload import Upload, UploadId
from shared.domain.ids import ConversationId, FileId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Delete, Set, Update
from shared.domain.store.vectors import Row
from shared.library.files import store_pages
from shared.ports import Documents
from tests.fakes import MemoryBlobs
from tests.fixtures.storage import MemoryDatabase

ANN = UserId("ann")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@dataclass
class IndexedLibrary:
    documents: Documents
    vectors: SqliteVectors

    async def reindex(self) -> int:
        stores, quotas = Stores(self.documents), Quotas(self.documents, {})
        return await reindex(ANN, stores, LibraryIndex(self.vectors), quotas)

    async def search_ids(self, question: str) -> list[str]:
        hits = await Search(self.documents, self.vectors).search_conversations(
            ANN, question, limit=9
        )
        return sorted(hit.conversation.id for hit in hits)


@pytest.fixture
def library(documents: Documents, vectors: SqliteVectors) -> IndexedLibrary:
    return IndexedLibrary(documents, vectors)


async def add_conversation(library: IndexedLibrary, name: str, text: str) -> Conversation:
    conversation = Conversation(
        id=ConversationId(name),
        created_at=NOON,
        started_at=NOON,
        finished_at=NOON,
        transcript_segments=(Segment(text=text, speaker="Bea"),),
        status="completed",
    )
    stored = await Conversations(library.documents).add(ANN, conversation)
    await library.documents.write(
        Update(conversation_path(ANN, conversation.id), {"status": "completed"})
    )
    return replace(stored, transcript_segments=conversation.transcript_segments)


async def test_every_stored_conversation_and_memory_is_reindexed_p12(library: IndexedLibrary):
    for n in range(130):
        await add_conversation(library, f"c{n}", f"The heron {n}")
    memory = Memory(
        id=MemoryId("m"), content="Has a boat", category="system", created_at=NOON, updated_at=NOON
    )
    await library.documents.write(Set(memory_path(ANN, memory.id), dump(memory)))
    assert await library.search_ids("heron") == []

    assert await library.reindex() == 130

    assert len(await library.search_ids("heron")) == 9
    assert await library.search_ids("heron 129") != []
    assert await Search(library.documents, library.vectors).search_memories(ANN, "boat", limit=1)


async def test_rows_of_an_older_index_version_are_found_after_a_reindex(library: IndexedLibrary):
    conversation = await add_conversation(library, "c", "The heron")
    await LibraryIndex(library.vectors).put(ANN, conversation)
    rows = await library.vectors.fetch(ANN, ["ann-c", "ann-c#0"])
    await library.vectors.upsert(ANN, [_with_older_version(row) for row in rows.values()])
    assert await library.search_ids("heron") == []

    await library.reindex()
    await library.reindex()

    assert await library.search_ids("heron") == ["c"]


async def test_deleted_and_discarded_conversations_are_not_indexed(library: IndexedLibrary):
    await add_conversation(library, "gone", "The heron")
    await add_conversation(library, "discarded", "The heron")
    await library.documents.write(
        Delete(conversation_path(ANN, ConversationId("gone"))),
        Update(conversation_path(ANN, ConversationId("discarded")), {"discarded": True}),
    )

    assert await library.reindex() == 0
    assert await library.vectors.fetch(ANN, ["ann-gone", "ann-discarded"]) == {}


async def test_a_conversation_whose_transcript_is_incomplete_stops_no_other_p12(
    library: IndexedLibrary,
):
    """A client died between a conversation and the parts of its transcript."""
    half = await add_conversation(library, "half", "The egret")
    await add_conversation(library, "whole", "The heron")
    changes = {"parts": ["0" * 64], "status": "failed", "chunk_count": 1}
    await LibraryIndex(library.vectors).put(ANN, half)
    await library.documents.write(Update(conversation_path(ANN, half.id), changes))

    await library.reindex()

    assert await library.search_ids("heron") == ["whole"]
    assert list(await library.vectors.fetch(ANN, ["ann-half#0"])) == ["ann-half#0"]


async def test_a_conversation_that_is_discarded_meanwhile_leaves_no_rows_p12(
    library: IndexedLibrary,
):
    talk = await add_conversation(library, "talk", "The heron")
    library.vectors = vectors = DiscardingVectors(MemoryDatabase())
    discarded = Update(conversation_path(ANN, talk.id), {"discarded": True, "chunk_count": 0})
    vectors.discard = lambda: library.documents.write(discarded)

    await library.reindex()

    assert await vectors.fetch(ANN, ["ann-talk", "ann-talk#0"]) == {}


class DiscardingVectors(SqliteVectors):
    """Vectors that are written just after the conversation was discarded."""

    discard: Callable[[], Awaitable[None]]

    async def upsert(self, namespace: str, rows: Sequence[Row]) -> None:
        await self.discard()
        await super().upsert(namespace, rows)


def _with_older_version(row: Row) -> Row:
    return replace(
        row, metadata={**row.metadata, "index_version": min(SEARCHED_INDEX_VERSIONS) - 1}
    )


async def test_files_count_as_stored_beside_conversations(library):
    stores = Stores(library.documents)
    upload = Upload(id=UploadId("u1"), length=500, created_at=NOON, expires_at=NOON)
    recording = Recording(id=ConversationId("r1"), created_at=NOON, size=30)
    await stores.uploads.add(ANN, upload)
    await library.documents.write(Set(recording_path(ANN, "r1"), dump(recording)))

    await library.reindex()

    assert (await Quotas(library.documents, {}).load_usage(ANN, NOON))["stored_bytes"] == 530


async def store_file(library: IndexedLibrary, blobs: MemoryBlobs, name: str, text: str) -> File:
    file = File(id=FileId(name), created_at=NOON, name=f"{name}.pdf", size=9, status="ready")
    await Stores(library.documents).files.add(ANN, file)
    await store_pages(blobs, ANN, file.id, [Page(number=1, text=text)])
    return file


async def test_files_are_found_again_after_their_rows_were_lost_x13(library: IndexedLibrary):
    files, blobs, index = Stores(library.documents).files, MemoryBlobs(), FileIndex(library.vectors)
    await store_file(library, blobs, "keel", "The keel is of oak.")
    await store_file(library, blobs, "mast", "The mast is of ash.")

    assert await reindex_files(ANN, files, blobs, index) == 2
    assert await reindex_files(ANN, files, blobs, index) == 2

    found = await index.search(ANN, "keel of oak", limit=9)
    assert found.passages[0].file_id == "keel"
    assert (await files.get(ANN, "keel")).chunk_count == 1


async def test_a_file_that_is_deleted_meanwhile_leaves_no_rows_x13(library: IndexedLibrary):
    files, index = Stores(library.documents).files, FileIndex(library.vectors)
    blobs = DeletingBlobs(files)
    await store_file(library, blobs, "keel", "The keel is of oak.")

    assert await reindex_files(ANN, files, blobs, index) == 0
    found = await index.search(ANN, "keel of oak", limit=9)
    assert found.passages == []


class DeletingBlobs(MemoryBlobs):
    """Blobs whose file is deleted as soon as it is read."""

    def __init__(self, files: Files) -> None:
        super().__init__()
        self._files = files

    async def read(self, path: str) -> bytes:
        content = await super().read(path)
        await self._files.take_out(ANN, FileId("keel"))
        return content
