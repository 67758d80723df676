"""Trigger: the writes that publish a message (P28)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.processing.trigger import build_change_event
from infra.local.envelopes import encode_document_event
from shared.data.conversations.transcripts import (
    MAX_INLINE_BYTES,
    dump_conversation,
    split_transcript,
)
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Segment, content_hash
from tests.fixtures.processing import ALICE, TALK, build_test_conversation, to_client_fields

PATH = f"users/{ALICE}/conversations/{TALK}"
FIELDS = to_client_fields(build_test_conversation())
EDITED = to_client_fields(build_test_conversation("Other words."))
SERVER = {"status": "completed", "chunk_count": 3, "structured": {"title": "T"}}


def test_a_new_conversation_is_published_with_its_hash_p28():
    assert build_change_event(PATH, old=None, new=FIELDS) == {
        "uid": ALICE,
        "conversation_id": TALK,
        "content_hash": content_hash(build_test_conversation()),
    }


def test_an_edited_conversation_is_published_with_its_new_hash_p28():
    event = build_change_event(PATH, old=FIELDS, new=EDITED)

    assert event is not None
    assert event["content_hash"] == content_hash(build_test_conversation("Other words."))


def test_a_deleted_conversation_is_published_without_a_hash_p28():
    assert build_change_event(PATH, old={**FIELDS, **SERVER}, new=None) == {
        "uid": ALICE,
        "conversation_id": TALK,
        "content_hash": None,
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [(FIELDS, {**FIELDS, **SERVER}), ({**FIELDS, **SERVER}, FIELDS), ({"a": 1}, {"b": 2})],
)
def test_a_write_that_leaves_the_content_unchanged_is_not_published_p28(old, new):
    assert build_change_event(PATH, old=old, new=new) is None


@pytest.mark.parametrize(
    "path",
    [f"{PATH}/parts/0", "users/alice/memories/m", "users/alice/conversations/a.b", "apps/x"],
)
def test_writes_to_other_documents_are_not_published(path):
    assert build_change_event(path, old=None, new=FIELDS) is None


MAX_EVENT_BYTES = 512 * 1024
"""What a trigger's event may take, https://cloud.google.com/eventarc/quotas, 2026-05."""


@given(st.integers(0, 3_000), st.sampled_from(["x", "é", "日", "😀"]))
def test_the_largest_event_of_a_change_is_delivered_d6(length: int, letter: str):
    """Old and new document, each with as many segments of this length as one may hold."""
    largest = build_largest_inline(Segment(text=letter * length, speaker="SPEAKER_00", is_user=True, start=0.5, end=1.5))  # fmt: skip

    event = encode_document_event(
        f"projects/p/databases/(default)/documents/{PATH}", largest, largest
    )

    assert len(event) <= MAX_EVENT_BYTES


def build_largest_inline(segment: Segment) -> dict[str, Any]:
    count = 2 * MAX_INLINE_BYTES // len(segment.text.encode() or b"x" * 100)
    _, (part, *_) = split_transcript(
        build_test_conversation(transcript_segments=(segment,) * count)
    )
    stored, parts = split_transcript(build_test_conversation(transcript_segments=part))
    assert not parts
    return {**dump(stored), **dump_conversation(stored)}
