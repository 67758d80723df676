"""Conversation store: whole, in parts, in pages, and with damaged documents."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.data.conversations.conversations import Conversations
from shared.data.conversations.transcripts import (
    MAX_INLINE_BYTES,
    hash_part,
    part_fields,
    split_transcript,
)
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Conversation, Segment, content_hash
from shared.domain.errors import Conflict, NotFound, Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Delete, Set, Update

ALICE = UserId("alice")
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def conversations(documents) -> Conversations:
    return Conversations(documents)


def conversation(name: str = "c1", *texts: str, day: int = 0) -> Conversation:
    at = START + timedelta(days=day)
    return Conversation(
        id=ConversationId(name),
        created_at=at,
        started_at=at,
        finished_at=at + timedelta(hours=1),
        transcript_segments=tuple(Segment(text=text) for text in texts or ("Hello.",)),
    )


def build_long_conversation(name: str = "c1") -> Conversation:
    return conversation(name, *(f"{n} {'ü' * 2_000}" for n in range(300)))


async def test_a_stored_conversation_is_read_back(conversations):
    await conversations.add(ALICE, conversation())

    assert await conversations.get(ALICE, ConversationId("c1")) == conversation()


async def test_a_long_conversation_is_read_back_from_its_parts(conversations, documents):
    await conversations.add(ALICE, build_long_conversation())

    document = await documents.get("users/alice/conversations/c1")
    assert document.fields["transcript_segments"] == []
    loaded_conversation = await conversations.get(ALICE, ConversationId("c1"))
    assert loaded_conversation.transcript_segments == build_long_conversation().transcript_segments
    assert content_hash(loaded_conversation) == content_hash(
        split_transcript(build_long_conversation())[0]
    )


async def test_storing_a_long_conversation_again_is_idempotent_and_other_content_conflicts(
    conversations,
):
    await conversations.add(ALICE, build_long_conversation())
    changed = replace(
        build_long_conversation(),
        transcript_segments=build_long_conversation().transcript_segments[:-1],
    )

    assert (await conversations.add(ALICE, build_long_conversation())).id == "c1"
    with pytest.raises(Conflict):
        await conversations.add(ALICE, changed)


async def test_a_missing_or_forged_part_makes_the_conversation_unavailable(
    conversations, documents
):
    await conversations.add(ALICE, build_long_conversation())
    path = "users/alice/conversations/c1/parts/0"

    for damage in (
        Set(path, part_fields((Segment(text="forged"),))),
        Set(path, {"segments": "none"}),
        Delete(path),
    ):
        await documents.write(damage)
        with pytest.raises(Unavailable):
            await conversations.get(ALICE, ConversationId("c1"))


@pytest.mark.parametrize("name", ["none", "a/b", "..", "malformed"])
async def test_an_unknown_or_malformed_conversation_is_not_found(conversations, documents, name):
    await documents.write(Set("users/alice/conversations/malformed", {"created_at": START}))

    with pytest.raises(NotFound):
        await conversations.get(ALICE, ConversationId(name))


async def test_a_malformed_conversation_is_not_overwritten(conversations, documents):
    await documents.write(Set("users/alice/conversations/c1", {"created_at": START}))

    with pytest.raises(Conflict):
        await conversations.add(ALICE, conversation())


async def test_leftover_parts_are_overwritten(conversations, documents):
    await documents.write(Set("users/alice/conversations/c1/parts/0", {"segments": []}))

    await conversations.add(ALICE, build_long_conversation())

    loaded_conversation = await conversations.get(ALICE, ConversationId("c1"))
    assert loaded_conversation.transcript_segments == build_long_conversation().transcript_segments


@pytest.mark.parametrize("created_at", ["2026-03-02T09:00:00", 1_700_000_000, 1.5, None, {"s": 1}])
async def test_an_invalid_created_at_does_not_break_a_list(conversations, documents, created_at):
    for n in range(2):
        await conversations.add(ALICE, conversation(f"c{n}", day=n))
    invalid_fields = {**dump(conversation("odd")), "created_at": created_at}
    await documents.write(Set("users/alice/conversations/odd", invalid_fields))

    first = await conversations.list_page(ALICE, limit=1)
    second = await conversations.list_page(ALICE, limit=9, after=first.next)

    assert [c.id for c in (*first.items, *second.items)] == ["c1", "c0"]


async def test_a_malformed_conversation_does_not_hide_the_others(conversations, documents):
    for n in range(3):
        await conversations.add(ALICE, conversation(f"c{n}", day=n))
    await documents.write(Update("users/alice/conversations/c1", {"started_at": "soon"}))

    first = await conversations.list_page(ALICE, limit=2)
    second = await conversations.list_page(ALICE, limit=2, after=first.next)

    assert [c.id for c in (*first.items, *second.items)] == ["c2", "c0"]


async def test_deleting_removes_the_parts_and_a_second_delete_raises_not_found(
    conversations, documents
):
    await conversations.add(ALICE, build_long_conversation())

    await conversations.delete(ALICE, ConversationId("c1"), now=START)

    assert await documents.get("users/alice/conversations/c1/parts/0") is None
    with pytest.raises(NotFound):
        await conversations.delete(ALICE, ConversationId("c1"), now=START)


async def test_a_time_range_lists_conversations_that_are_not_discarded(conversations, documents):
    for n in range(5):
        await conversations.add(ALICE, conversation(f"c{n}", day=n))
    await documents.write(Update("users/alice/conversations/c2", {"discarded": True}))

    listed_conversations = await conversations.list_between(
        ALICE, start=START + timedelta(days=1), end=START + timedelta(days=4), limit=9
    )

    assert [c.id for c in listed_conversations] == ["c3", "c1"]
    assert listed_conversations[0].transcript_segments == ()
    with_segments = await conversations.list_between(ALICE, limit=1, with_segments=True)
    assert with_segments[0].transcript_segments == conversation().transcript_segments


async def test_a_missing_part_does_not_hide_the_other_transcripts_of_a_list(
    conversations, documents
):
    await conversations.add(ALICE, build_long_conversation("c1"))
    await conversations.add(ALICE, conversation("c2"))
    await documents.write(Delete("users/alice/conversations/c1/parts/0"))

    listed_conversations = await conversations.list_between(ALICE, limit=9, with_segments=True)

    assert [(c.id, len(c.transcript_segments)) for c in listed_conversations] == [
        ("c2", 1),
        ("c1", 0),
    ]


@given(st.lists(st.integers(1, 90_000), min_size=1, max_size=40))
def test_every_transcript_is_split_within_the_size_limit_of_a_document(sizes):
    talk = conversation("c1", *("x" * size for size in sizes))

    stored_conversation, parts = split_transcript(talk)

    segments = tuple(s for part in parts for s in part) or stored_conversation.transcript_segments
    assert segments == talk.transcript_segments
    assert stored_conversation.parts == tuple(hash_part(part) for part in parts)
    for part in parts or [stored_conversation.transcript_segments]:
        assert sum(len(s.text.encode()) for s in part) <= MAX_INLINE_BYTES


def test_a_single_long_segment_does_not_stand_in_the_document_that_events_carry_d6():
    stored_conversation, parts = split_transcript(conversation("c1", "x" * MAX_INLINE_BYTES))

    assert stored_conversation.transcript_segments == ()
    assert [[len(s.text) for s in part] for part in parts] == [[MAX_INLINE_BYTES]]
