"""Codec: what a client wrote into the store is read within bounds."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.data.conversations.transcripts import hash_part, read_part
from shared.data.store.codec import MAX_ITEMS, MalformedDocument, dump, dump_sparse, load
from shared.domain.chats.chat import Message
from shared.domain.chats.chat_notes import AnswerNotes
from shared.domain.conversations.conversation import Conversation, Segment, Speaker
from shared.domain.ids import ConversationId, MessageId, SessionId
from shared.domain.store.documents import Document, Set
from shared.ports import Documents

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def build_document(**fields: Any) -> Document:
    times = dict.fromkeys(("created_at", "started_at", "finished_at"), NOW)
    return Document(path="users/u/conversations/c", fields={**times, **fields}, version="")


async def test_maps_have_any_keys(any_documents: Documents):
    names = ("", "__ann__", ".", ".a", "a.b", "`", "SPEAKER_00")
    conversation = Conversation(
        id=ConversationId("c"),
        created_at=NOW,
        started_at=NOW,
        finished_at=NOW,
        speakers={name: Speaker(name=f"Ann {n}") for n, name in enumerate(names)},
    )

    await any_documents.write(Set("users/u/conversations/c", dump(conversation)))
    stored = await any_documents.get("users/u/conversations/c")

    assert stored is not None
    assert load(Conversation, stored) == conversation


MESSAGES = st.builds(
    Message,
    id=st.just(MessageId("m")),
    session_id=st.just(SessionId("main")),
    text=st.sampled_from(("", "Hello")),
    sender=st.sampled_from(("human", "ai")),
    created_at=st.just(NOW),
    reported=st.booleans(),
    voice=st.integers(0, 2),
    harm=st.sampled_from((None, 0.0, 3.0)),
    rating=st.sampled_from((None, 1, -1)),
    voices=st.sampled_from(((), ("a", "b"))),
    metadata=st.sampled_from(({}, {"outcome": "completed"})),
    notes=st.sampled_from((None, AnswerNotes(), AnswerNotes(follow_ups=("Why?",)))),
    read_kinds=st.sampled_from((None, (), ("app",))),
)


@given(MESSAGES)
def test_what_a_message_has_by_default_is_not_stored_and_read_all_the_same(message: Message):
    sparse, whole = dump_sparse(message), dump(message)

    assert load(Message, Document(path="users/u/messages/m", fields=sparse, version="")) == message
    assert load(Message, Document(path="users/u/messages/m", fields=whole, version="")) == message
    assert all(whole[name] == field for name, field in sparse.items())
    assert {"type", "files", "diagnostics"}.isdisjoint(sparse)


@pytest.mark.parametrize("number", [MAX_ITEMS, 50 * MAX_ITEMS])
def test_too_many_malformed_segments_give_a_short_error(number: int):
    """A document of 1 MiB holds a million empty maps; each would be an error of its own."""
    document = build_document(transcript_segments=[{}] * number)

    with pytest.raises(MalformedDocument) as error:
        load(Conversation, document)

    assert len(str(error.value)) < 500


def test_a_transcript_of_more_than_max_items_segments_is_malformed():
    max_segments = [{"text": ""}] * MAX_ITEMS

    assert load(Conversation, build_document(transcript_segments=max_segments)).transcript_segments
    with pytest.raises(MalformedDocument):
        load(Conversation, build_document(transcript_segments=[*max_segments, {"text": ""}]))


def test_a_part_of_more_than_max_items_segments_is_rejected():
    part = (Segment(text=""),) * (MAX_ITEMS + 1)
    document = build_document(segments=[{"text": ""}] * len(part))

    assert read_part(document, hash_part(part)) is None
