"""Conversations decoded once for each version that is read."""

from dataclasses import replace
from datetime import UTC, datetime

from shared.data.codec import dump
from shared.data.standing import SEGMENT_CHARS, Decoded
from shared.domain.conversation import Conversation, Segment, content_hash
from shared.domain.documents import Document
from shared.domain.ids import ConversationId

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def talk(name: str, text: str = "Ann likes Lisbon.") -> Conversation:
    return Conversation(
        id=ConversationId(name),
        created_at=NOON,
        started_at=NOON,
        finished_at=NOON,
        transcript_segments=(Segment(text=text),),
    )


def document(said: Conversation, version: str = "v1", uid: str = "ada") -> Document:
    path = f"users/{uid}/conversations/{said.id}"
    return Document(path=path, fields=dump(said), version=version)


def test_a_version_is_decoded_once():
    decoded = Decoded()

    [first], [again] = (decoded.all([document(talk("c1"))]) for _ in range(2))

    assert first.conversation == talk("c1")
    assert first.content_hash == content_hash(talk("c1"))
    assert again is first


def test_another_version_is_decoded_anew():
    decoded, edited = Decoded(), talk("c1", "Ann likes Porto.")

    decoded.all([document(talk("c1"))])
    [standing] = decoded.all([document(edited, "v2")])

    assert (standing.conversation, standing.content_hash) == (edited, content_hash(edited))
    assert len(decoded) == 1


def test_what_is_gone_or_cannot_be_decoded_is_left_out():
    broken = replace(document(talk("c1"), "v2"), fields={"started_at": "soon"})
    decoded = Decoded()

    decoded.all([document(talk("c1"))])

    assert decoded.all([None, broken]) == []
    assert len(decoded) == 0


def test_one_users_conversation_is_not_anothers_of_the_same_id():
    decoded, others = Decoded(), talk("c1", "Eve likes Rome.")

    decoded.all([document(talk("c1"))])
    [standing] = decoded.all([document(others, uid="eve")])

    assert standing.conversation == others


def test_those_read_last_are_held_and_no_more_than_there_is_room_for():
    room = 2 * (SEGMENT_CHARS + len("Ann likes Lisbon."))
    decoded = Decoded(held_chars=room)
    first, second, third = (document(talk(name)) for name in ("c1", "c2", "c3"))

    [kept] = decoded.all([first])
    [dropped] = decoded.all([second])
    decoded.all([first])
    decoded.all([third])

    assert len(decoded) == 2
    assert decoded.all([first])[0] is kept
    assert decoded.all([second])[0] is not dropped


def test_one_that_is_larger_than_the_room_is_told_and_not_held():
    decoded = Decoded(held_chars=100)

    assert len(decoded.all([document(talk("c1"))])) == 1
    assert len(decoded) == 0
