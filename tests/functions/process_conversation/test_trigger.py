"""Trigger: the writes that publish a message (P28)."""

import pytest

from functions.process_conversation.processing.trigger import build_change_event
from shared.domain.conversation import content_hash
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
