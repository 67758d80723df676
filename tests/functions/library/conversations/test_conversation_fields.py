"""Fields of a conversation that clients send: each is stored, read, merged and restored, and programs read some."""

import json
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest

from functions.imports.formats.restored_conversations import parse_restored
from functions.library.programs.developer_api.developer_schemas import (
    DeveloperSegmentsIn,
    TranscribedConversationOut,
)
from functions.library.programs.integrations.integration_schemas import (
    AppConversationOut,
    ExternalConversationIn,
)
from functions.library.programs.program_schemas import WholeConversationOut
from functions.library.sharing.sharing_schemas import SharedConversationOut
from functions.tool_proxy.webhooks.payload import build_payload
from shared.domain.conversations.conversation import Conversation, transcript_hash
from shared.domain.conversations.merged_transcript import merge_conversations
from shared.domain.ids import ConversationId
from shared.library.conversation_schemas import ConversationIn, ConversationOut
from shared.library.exported_record import ExportedConversationOut, build_record
from tests.fixtures.processing import START

BODY: Mapping[str, Any] = {
    "id": "talk",
    "started_at": "2026-03-02T09:00:00Z",
    "finished_at": "2026-03-02T09:30:00Z",
    "source": "phone",
    "language": "de",
    "transcript_segments": [{"text": "Guten Tag", "id": "a"}],
    "photos": [{"base64": "aGVsbG8="}],
    "geolocation": {"latitude": 38.7, "longitude": -9.1},
    "external_data": {"text": "A mail"},
}
"""A value for each field that clients send, other than its default."""
SENT = ConversationIn(**BODY).to_conversation("")
EMPTY = Conversation(
    id=ConversationId("none"),
    created_at=START,
    started_at=START - timedelta(days=1),
    finished_at=START - timedelta(days=1),
)
ALL = {"app reads", "key reads", "model reads", "link shows", "webhook tells", "content"}
USES: Mapping[str, Collection[str]] = {
    "id": ALL - {"link shows", "content"},
    "started_at": {*ALL, "app sends", "key sends"},
    "finished_at": {*ALL, "app sends", "key sends"},
    "source": {"app reads", "key reads", "webhook tells", "content", "key sends"},
    "language": {*ALL, "app sends", "key sends"},
    "transcript_segments": {*ALL, "key sends"},
    "photos": {"webhook tells"},
    "geolocation": {"key sends"},
    "external_data": {"webhook tells"},
}
"""Who is given a field beside its owner, and who sends it. With another `content`, models are asked again."""


def test_every_field_above_the_status_can_be_sent() -> None:
    names = [field.name for field in fields(Conversation)]
    recorded = set(names[: names.index("status")]) - {"created_at", "parts"}

    assert ConversationIn.model_fields.keys() ^ recorded == set()
    assert BODY.keys() ^ recorded == set()


def test_every_field_that_is_sent_is_stored() -> None:
    assert list_lost(SENT) == []


def test_every_field_that_is_sent_is_read_by_its_owner() -> None:
    shown = ConversationOut.of(SENT).model_dump()

    assert [name for name in BODY if not shown.get(name)] == []


def test_every_field_comes_along_when_conversations_are_merged() -> None:
    assert list_lost(merge_conversations([SENT], ConversationId("merged"))) == []


def test_every_field_of_an_export_comes_back() -> None:
    exported = ExportedConversationOut.model_construct(
        **dict(ConversationOut.of(SENT)), record=build_record(SENT, {}, None)
    )

    restored = parse_restored(json.loads(exported.model_dump_json()), START).conversation

    assert list_lost(restored) == []


@pytest.mark.parametrize("name", BODY)
def test_a_field_is_used_by_whom_the_table_names(name: str) -> None:
    shapes: Mapping[str, Collection[str]] = {
        "app reads": AppConversationOut.model_fields,
        "key reads": TranscribedConversationOut.model_fields,
        "model reads": WholeConversationOut.model_fields,
        "link shows": SharedConversationOut.model_fields,
        "app sends": ExternalConversationIn.model_fields,
        "key sends": DeveloperSegmentsIn.model_fields,
        "webhook tells": [key for key, told in load_webhook().items() if told],
        "content": [name] if is_content(name) else [],
    }

    assert {use for use, names in shapes.items() if name in names} == USES[name]


def load_webhook() -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(build_payload(SENT, "memory_creation"))
    return payload


def is_content(name: str) -> bool:
    """Tell whether a transcript is another one where this field is another."""
    changed = replace(SENT, **{name: getattr(EMPTY, name)})
    return transcript_hash(changed) != transcript_hash(SENT)


def list_lost(conversation: Conversation) -> list[str]:
    """Return the fields of which it has only the default."""
    return [name for name in BODY if getattr(conversation, name) == getattr(EMPTY, name)]
