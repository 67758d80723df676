"""P28: which writes are worth a message."""

import pytest

from functions.process_conversation.written import change_event
from shared.domain.conversation import content_hash
from tests.functions.process_conversation.world import ALICE, TALK, client_fields, talk

PATH = f"users/{ALICE}/conversations/{TALK}"
FIELDS = client_fields(talk())
EDITED = client_fields(talk("Other words."))
SERVER = {"status": "completed", "chunk_count": 3, "structured": {"title": "T"}}


def test_a_new_one_is_announced_by_its_hash_p28():
    assert change_event(PATH, old=None, new=FIELDS) == {
        "uid": ALICE,
        "conversation_id": TALK,
        "content_hash": content_hash(talk()),
    }


def test_an_edited_one_is_announced_by_its_new_hash_p28():
    event = change_event(PATH, old=FIELDS, new=EDITED)

    assert event is not None
    assert event["content_hash"] == content_hash(talk("Other words."))


def test_a_deleted_one_is_announced_without_a_hash_p28():
    assert change_event(PATH, old={**FIELDS, **SERVER}, new=None) == {
        "uid": ALICE,
        "conversation_id": TALK,
        "content_hash": None,
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [(FIELDS, {**FIELDS, **SERVER}), ({**FIELDS, **SERVER}, FIELDS), ({"a": 1}, {"b": 2})],
)
def test_what_leaves_the_content_alone_is_not_announced_p28(old, new):
    assert change_event(PATH, old=old, new=new) is None


@pytest.mark.parametrize(
    "path",
    [f"{PATH}/parts/0", "users/alice/memories/m", "users/alice/conversations/a.b", "apps/x"],
)
def test_other_documents_are_not_announced(path):
    assert change_event(path, old=None, new=FIELDS) is None
