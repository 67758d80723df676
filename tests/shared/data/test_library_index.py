"""Library index: ids, metadata and rows of a conversation."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.search.library_index import INDEX_VERSION, LibraryIndex, memory_hash
from shared.domain.conversations.conversation import (
    Conversation,
    Event,
    ExtractedItem,
    Segment,
    Structured,
    Topics,
    content_hash,
)
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.retrieval.query import parse_query

ANN = UserId("ann")
MORNING = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
WALK = Conversation(
    id=ConversationId("walk"),
    created_at=MORNING,
    started_at=MORNING,
    finished_at=MORNING,
    transcript_segments=tuple(
        Segment(text=f"We spoke of {topic}", speaker="Bea")
        for topic in ("herons", "otters", "badgers", "beavers", "martens", "polecats")
    ),
    structured=Structured(
        title="By the river",
        overview="Wildlife of the valley",
        action_items=(ExtractedItem(description="Buy binoculars"),),
        events=(Event(title="Owl night", start=MORNING, description="Meet at the mill"),),
    ),
    topics=Topics(
        people=("Bea",), topics=("wildlife",), entities=("valley",), dates=("2026-03-07",)
    ),
)
MEMORY = Memory(
    id=MemoryId("m1"),
    content="Ann likes herons",
    category="interesting",
    created_at=MORNING,
    updated_at=MORNING,
    conversation_id=WALK.id,
)


async def query_rows(vectors: SqliteVectors, question: str) -> dict[str, Any]:
    hits = await vectors.query_sparse(ANN, parse_query(question).vector, limit=1_000)
    return {hit.id: hit.metadata for hit in hits}


async def test_row_ids_have_the_documented_form_p12(vectors: SqliteVectors):
    count = await LibraryIndex(vectors).put(ANN, WALK, [MEMORY])

    assert count == 6
    assert set(await query_rows(vectors, "March 2026")) == {
        "ann-walk",
        *(f"ann-walk#{n}" for n in range(6)),
        "ann-m1#m",
    }


async def test_metadata_is_flat_and_holds_no_text_p12(vectors: SqliteVectors):
    await LibraryIndex(vectors).put(ANN, WALK, [MEMORY])

    about = {
        "uid": "ann",
        "conversation_id": "walk",
        "created_at": 1772440200,
        "people": ["bea"],
        "topics": ["wildlife"],
        "entities": ["valley"],
        "dates": ["2026-03-07"],
        "content_hash": content_hash(WALK),
        "index_version": INDEX_VERSION,
    }
    assert await query_rows(vectors, "binoculars") == {"ann-walk": {**about, "kind": "summary"}}
    assert (await query_rows(vectors, "polecats"))["ann-walk#5"] == {
        **about,
        "kind": "chunk",
        "segment": 5,
    }
    assert (await query_rows(vectors, "likes herons"))["ann-m1#m"] == {
        "kind": "memory",
        "uid": "ann",
        "memory_id": "m1",
        "conversation_id": "walk",
        "created_at": 1772440200,
        "content_hash": memory_hash(MEMORY),
        "index_version": INDEX_VERSION,
    }


async def test_names_are_stored_as_filter_keys_and_at_most_forty(vectors: SqliteVectors):
    people = ("Zoë  KRÜGER", "x" * 100, *(f"Person {n}" for n in range(60)))

    await LibraryIndex(vectors).put(ANN, replace(WALK, topics=Topics(people=people)))

    names = (await query_rows(vectors, "binoculars"))["ann-walk"]["people"]
    assert names[:4] == ["bea", "zoe kruger", "x" * 60, "person 0"]
    assert len(names) == 40


@pytest.mark.parametrize("word", ["river", "wildlife", "binoculars", "owl", "mill"])
async def test_the_summary_row_holds_title_overview_action_items_and_events_p12(
    vectors: SqliteVectors, word: str
):
    await LibraryIndex(vectors).put(ANN, WALK)

    assert set(await query_rows(vectors, word)) == {"ann-walk"}


async def test_changed_text_overwrites_its_rows_and_surplus_chunks_are_deleted_p12(
    vectors: SqliteVectors,
):
    index = LibraryIndex(vectors)
    count = await index.put(ANN, WALK)
    segments = (Segment(text="Only otters now", speaker="Bea"),)
    edited = replace(WALK, transcript_segments=segments, chunk_count=count)

    assert await index.put(ANN, edited) == 1

    assert set(await query_rows(vectors, "March 2026")) == {"ann-walk", "ann-walk#0"}
    assert await query_rows(vectors, "polecats") == {}


async def test_indexing_again_changes_nothing_p12(vectors: SqliteVectors):
    index = LibraryIndex(vectors)
    count = await index.put(ANN, WALK, [MEMORY])
    before = await query_rows(vectors, "March 2026")

    assert await index.put(ANN, replace(WALK, chunk_count=count), [MEMORY]) == count

    assert await query_rows(vectors, "March 2026") == before


async def test_removing_a_conversation_removes_every_row_of_it_p12(vectors: SqliteVectors):
    index = LibraryIndex(vectors)
    count = await index.put(ANN, WALK, [MEMORY])
    await index.put(ANN, replace(WALK, id=ConversationId("walk-2")))

    await index.remove(ANN, WALK.id, count)
    await index.remove_memories(ANN, [MEMORY.id])

    assert set(await query_rows(vectors, "March 2026")) == {
        "ann-walk-2",
        *(f"ann-walk-2#{n}" for n in range(6)),
    }


async def test_a_changed_memory_overwrites_its_row(vectors: SqliteVectors):
    index = LibraryIndex(vectors)
    await index.put_memories(ANN, [MEMORY])

    await index.put_memories(ANN, [replace(MEMORY, content="Ann likes otters")])

    assert await query_rows(vectors, "herons") == {}
    assert set(await query_rows(vectors, "otters")) == {"ann-m1#m"}


async def test_very_long_names_stay_within_the_metadata_limit(vectors: SqliteVectors):
    names = tuple("名" * 500 for _ in range(500))
    topics = Topics(people=names, topics=names, entities=names, dates=names)

    await LibraryIndex(vectors).put(ANN, replace(WALK, topics=topics))

    assert set(await query_rows(vectors, "owl")) == {"ann-walk"}


async def test_a_conversation_without_words_has_no_chunks(vectors: SqliteVectors):
    silent = replace(WALK, transcript_segments=(Segment(text="…"), Segment(text=" ")))

    await LibraryIndex(vectors).put(ANN, replace(silent, structured=Structured()))

    assert "ann-walk" in await query_rows(vectors, "March 2026")
