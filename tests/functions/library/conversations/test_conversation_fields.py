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
    DeveloperTextIn,
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
from shared.edge.declare.schemas import Wire
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
UNREAD: Mapping[type[Wire], Collection[str]] = {
    AppConversationOut: {"photos", "geolocation", "external_data"},
    TranscribedConversationOut: {"photos", "geolocation", "external_data"},
    WholeConversationOut: {"source", "photos", "geolocation", "external_data"},
    SharedConversationOut: {"id", "source", "photos", "geolocation", "external_data"},
}
"""What apps, developer keys, MCP and those who have a link do not read."""
UNSENT: Mapping[type[Wire], Collection[str]] = {
    ExternalConversationIn: {"id", "source", "transcript_segments", "photos", "geolocation", "external_data"},
    DeveloperTextIn: {"id", "source", "transcript_segments", "photos", "external_data"},
    DeveloperSegmentsIn: {"id", "photos", "external_data"},
}  # fmt: skip
"""What apps and developer keys cannot send."""
UNTOLD = ["geolocation"]
"""What a webhook does not tell."""
UNHASHED = ["id", "photos", "geolocation", "external_data"]
"""What does not make a transcript another one: no model is asked again."""


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


@pytest.mark.parametrize("schema", UNREAD)
def test_what_others_than_its_owner_do_not_read_is_listed_here(schema: type[Wire]) -> None:
    assert BODY.keys() - schema.model_fields.keys() == UNREAD[schema]


@pytest.mark.parametrize("schema", UNSENT)
def test_what_programs_cannot_send_is_listed_here(schema: type[Wire]) -> None:
    assert BODY.keys() - schema.model_fields.keys() == UNSENT[schema]


def test_what_a_webhook_does_not_tell_is_listed_here() -> None:
    payload = json.loads(build_payload(SENT, "memory_creation"))

    assert [name for name in BODY if not payload.get(name)] == UNTOLD


def test_what_does_not_make_a_transcript_another_one_is_listed_here() -> None:
    changed = {name: replace(SENT, **{name: getattr(EMPTY, name)}) for name in BODY}

    assert [
        name for name in BODY if transcript_hash(changed[name]) == transcript_hash(SENT)
    ] == UNHASHED


def list_lost(conversation: Conversation) -> list[str]:
    """Return the fields of which it has only the default."""
    return [name for name in BODY if getattr(conversation, name) == getattr(EMPTY, name)]
