"""Firestore rules: who may read and write which document, on the emulator."""

import base64
import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from shared.data.conversations.transcripts import MAX_INLINE_BYTES
from shared.domain.conversations.conversation import MAX_PARTS, Conversation, Segment
from shared.domain.ids import is_id

pytestmark = pytest.mark.emulators

ANN, BOB, ANONYMOUS = "ann", "bob", None
SIGNED_IN = datetime(2026, 3, 2, 9, tzinfo=UTC)
CONVERSATION = "users/ann/conversations/c1"
SERVER_FIELDS = {
    "status": "completed",
    "discarded": True,
    "structured": {"title": "forged"},
    "topics": {"people": []},
    "held_by": {"attempt": 9},
    "processed_hash": "0",
    "chunk_count": 3,
    "failure": "none",
    "failure_reason": "other",
    "waiting_since": "2026-03-02T09:00:00Z",
    "edits": {"title": "forged"},
    "speakers": {"SPEAKER_00": "forged"},
    "assignments": {"s1": "forged"},
    "person_ids": ["forged"],
    "person_names": {"forged": "Ann"},
    "starred": True,
    "app_id": "notes",
    "text_bytes": 0,
    "transcript_deleted_at": "2026-03-02T12:00:00Z",
    "deleted_hash": "0",
    "restored_hash": "said",
    "is_imported": False,
    "folder_id": "forged",
    "visibility": "shared",
    "share_token": "forged",
    "merged_into": "forged",
    "merged_from": ["forged"],
    "apps_results": [{"content": "forged"}],
    "suggested_summarization_apps": ["forged"],
    "summary_app": "forged",
    "listed_at": "2026-03-02T12:00:00Z",
    "photo_count": 3,
    "photo_bytes": 0,
    "processed_at": "2026-03-02T12:00:00Z",
    "kept_at": "2026-03-02T12:00:00Z",
    "marked_at": "2026-03-02T12:00:00Z",
    "figures": {"seconds": 9},
    "dropped_memories": {"unproved": 9},
}


class Database:
    """One project of the emulator; a caller is a user id, None, or "owner" who may do anything."""

    def __init__(self, client: httpx.Client, project: str) -> None:
        self._client = client
        self._documents = f"/v1/projects/{project}/databases/(default)/documents"

    def read(self, caller: str | None, path: str) -> int:
        return self._client.get(self._url(path), headers=_build_auth_headers(caller)).status_code

    def create(self, caller: str | None, path: str, fields: Mapping[str, Any]) -> int:
        parent, _, name = path.rpartition("/")
        return self._client.post(
            self._url(parent),
            params={"documentId": name},
            json=_to_wire_fields(fields),
            headers=_build_auth_headers(caller),
        ).status_code

    def update(self, caller: str | None, path: str, fields: Mapping[str, Any]) -> int:
        return self._client.patch(
            self._url(path),
            params={"updateMask.fieldPaths": list(fields), "currentDocument.exists": True},
            json=_to_wire_fields(
                {name: value for name, value in fields.items() if value is not None}
            ),
            headers=_build_auth_headers(caller),
        ).status_code

    def replace(self, caller: str | None, path: str, fields: Mapping[str, Any]) -> int:
        url = self._url(path)
        return self._client.patch(
            url, json=_to_wire_fields(fields), headers=_build_auth_headers(caller)
        ).status_code

    def update_now(self, caller: str | None, path: str) -> int:
        """Change a document, and let Firestore write its own time into `written_at`."""
        now = {"fieldPath": "written_at", "setToServerValue": "REQUEST_TIME"}
        document = {"name": f"{self._documents.removeprefix('/v1/')}/{path}"}
        write = {"update": document, "updateMask": {}, "updateTransforms": [now]}
        return self._client.post(
            f"{self._documents}:commit",
            json={"writes": [write]},
            headers=_build_auth_headers(caller),
        ).status_code

    def delete(self, caller: str | None, path: str) -> int:
        return self._client.delete(self._url(path), headers=_build_auth_headers(caller)).status_code

    def _url(self, path: str) -> str:
        return f"{self._documents}/{path}"


def _build_auth_headers(caller: str | None) -> dict[str, str]:
    if caller is None:
        return {}
    if caller == "owner":
        return {"Authorization": "Bearer owner"}
    header, claims = (
        {"alg": "none"},
        {"sub": caller, "user_id": caller, "auth_time": int(SIGNED_IN.timestamp())},
    )
    token = ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in (header, claims)
    )
    return {"Authorization": f"Bearer {token}."}


def _to_wire_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"fields": {name: _to_wire_value(value) for name, value in fields.items()}}


def _to_wire_value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"booleanValue": value}
        case int():
            return {"integerValue": str(value)}
        case dict():
            return {"mapValue": _to_wire_fields(value)}
        case list():
            return {"arrayValue": {"values": [_to_wire_value(item) for item in value]}}
        case datetime():
            return {"timestampValue": value.isoformat()}
        case _:
            return {"stringValue": value}


@pytest.fixture
def database(firestore_emulator: str):
    with httpx.Client(base_url=f"http://{firestore_emulator}", trust_env=False) as client:
        yield Database(client, f"test-{uuid4().hex[:12]}")


def test_an_owner_writes_and_reads_their_own_conversation(database: Database):
    fields = {"language": "en", "transcript_segments": [{"text": "hello"}]}

    assert database.create(ANN, CONVERSATION, fields) == 200
    assert database.update(ANN, CONVERSATION, {"language": "de"}) == 200
    assert database.read(ANN, CONVERSATION) == 200
    assert database.create(ANN, f"{CONVERSATION}/parts/0", {"segments": []}) == 200
    assert database.read(ANN, f"{CONVERSATION}/parts/0") == 200


@pytest.mark.parametrize(("seconds", "status"), [(-1, 200), (0, 200), (1, 403)])
def test_a_session_of_before_a_sign_out_everywhere_reads_and_writes_nothing_s9(
    database: Database, seconds: int, status: int
):
    ended_at = SIGNED_IN + timedelta(seconds=seconds)
    database.create("owner", "users/ann/sign_outs/last", {"ended_at": ended_at})

    assert database.create(ANN, CONVERSATION, {"language": "en"}) == status
    assert database.read(ANN, "users/ann/conversations/c9") == (404 if status == 200 else 403)


@pytest.mark.parametrize("segments", [[{}] * 20_001, {"a": 1}, "text"])
def test_a_client_cannot_write_an_unreadable_transcript(database: Database, segments: Any):
    part = f"{CONVERSATION}/parts/0"
    database.create("owner", CONVERSATION, {"language": "en"})
    database.create("owner", part, {"segments": []})

    path = "users/ann/conversations/c2"
    assert database.create(ANN, path, {"transcript_segments": segments}) == 403
    assert database.update(ANN, CONVERSATION, {"transcript_segments": segments}) == 403
    assert database.create(ANN, f"{CONVERSATION}/parts/1", {"segments": segments}) == 403
    assert database.update(ANN, part, {"segments": segments}) == 403
    assert database.create(ANN, path, {"transcript_segments": [{}] * 20_000}) == 200


PART = f"{CONVERSATION}/parts"


@pytest.mark.parametrize("part", ["100", "00", "01", "-1", "a", "1.5", "1e1"])
def test_a_client_cannot_write_more_parts_than_are_read_s8(database: Database, part: str):
    assert database.create(ANN, f"{PART}/{part}", {"segments": []}) == 403
    assert database.create(ANN, f"{PART}/99", {"segments": []}) == 200


@pytest.mark.parametrize(
    "fields", [{"segments": [{}] * 6_001}, {"segments": [], "more": "x"}, {"segments": {"a": 1}}]
)
def test_a_part_holds_segments_of_a_part_and_nothing_else_s8(
    database: Database, fields: dict[str, Any]
):
    assert database.create(ANN, f"{PART}/0", fields) == 403
    assert database.create(ANN, f"{PART}/0", {"segments": [{}] * 6_000}) == 200
    assert database.update(ANN, f"{PART}/0", fields) == 403


@pytest.mark.parametrize("parts", [["0" * 64] * (MAX_PARTS + 1), "text", {"a": 1}])
def test_a_transcript_names_no_more_parts_than_are_read_s8(database: Database, parts: Any):
    database.create("owner", CONVERSATION, {"language": "en"})

    assert database.create(ANN, "users/ann/conversations/c2", {"parts": parts}) == 403
    assert database.update(ANN, CONVERSATION, {"parts": parts}) == 403
    assert database.update(ANN, CONVERSATION, {"parts": ["0" * 64] * MAX_PARTS}) == 200


def test_the_functions_write_no_part_that_a_client_could_not_write_s8():
    segment = Segment(text="", speaker="", is_user=False, start=0, end=0)
    most = MAX_INLINE_BYTES // len(json.dumps(dataclasses.asdict(segment)))

    assert most < 6_000


@pytest.mark.parametrize("caller", [BOB, ANONYMOUS])
def test_other_users_cannot_read_or_write_a_conversation(database: Database, caller: str | None):
    database.create("owner", CONVERSATION, {"language": "en"})

    assert database.read(caller, CONVERSATION) == 403
    assert database.read(caller, "users/ann/conversations") == 403
    assert database.update(caller, CONVERSATION, {"language": "de"}) == 403
    assert database.create(caller, "users/ann/conversations/c2", {}) == 403
    assert database.create(caller, f"{CONVERSATION}/parts/0", {}) == 403
    assert database.read(caller, "users/ann") == 403


@pytest.mark.parametrize("name", ["a b", "ä", "a.b", "a" * 65, "c1\n"])
def test_a_client_cannot_choose_an_invalid_id(database: Database, name: str):
    assert not is_id(name)
    assert database.create(ANN, f"users/ann/conversations/{name}", {}) == 403


@pytest.mark.parametrize("field", SERVER_FIELDS)
def test_a_client_cannot_write_server_fields(database: Database, field: str):
    forged = {field: SERVER_FIELDS[field]}
    database.create("owner", CONVERSATION, {"language": "en"})

    assert database.create(ANN, "users/ann/conversations/c2", {"language": "en", **forged}) == 403
    assert database.update(ANN, CONVERSATION, forged) == 403
    assert database.replace(ANN, CONVERSATION, {"language": "de", **forged}) == 403


@pytest.mark.parametrize("field", SERVER_FIELDS)
def test_a_client_cannot_change_or_remove_server_fields(database: Database, field: str):
    server_fields = {field: SERVER_FIELDS[field]}
    database.create("owner", CONVERSATION, {"language": "en", **server_fields})

    assert database.update(ANN, CONVERSATION, {field: None}) == 403
    assert database.replace(ANN, CONVERSATION, {"language": "de"}) == 403
    assert database.update(ANN, CONVERSATION, {"language": "de"}) == 200
    assert database.replace(ANN, CONVERSATION, {"language": "fr", **server_fields}) == 200


def test_the_list_of_server_fields_is_complete():
    names = [field.name for field in dataclasses.fields(Conversation)]

    assert names[names.index("status") :] == list(SERVER_FIELDS)


@pytest.mark.parametrize("days", [-90, 90])
def test_a_client_dates_its_write_by_the_clock_of_the_store_alone_f2(database: Database, days: int):
    forged = {"written_at": datetime.now(UTC) + timedelta(days=days)}
    database.create("owner", CONVERSATION, {"language": "en"})

    assert database.create(ANN, "users/ann/conversations/c2", forged) == 403
    assert database.update(ANN, CONVERSATION, forged) == 403
    assert database.update_now(ANN, CONVERSATION) == 200
    assert database.update(ANN, CONVERSATION, {"language": "de"}) == 200
    assert database.replace(ANN, CONVERSATION, {"language": "fr"}) == 200


def test_a_client_cannot_delete_a_conversation_whose_vectors_would_stay(database: Database):
    database.create("owner", CONVERSATION, {})

    assert database.delete(ANN, CONVERSATION) == 403


@pytest.mark.parametrize(
    "path",
    ["users/ann", "users/ann/memories/x", "users/ann/action_items/x", "users/ann/messages/x",
     "users/ann/chat_sessions/x", "users/ann/installed_apps/x", "users/ann/people/x",
     "users/ann/folders/all", "users/ann/daily_summaries/x",
     "users/ann/inbox/x", "users/ann/connections/x"],
)  # fmt: skip
def test_an_owner_can_read_but_not_write_what_the_functions_store(database: Database, path: str):
    database.create("owner", path, {"n": 1})

    assert database.read(ANN, path) == 200
    assert database.read(BOB, path) == 403
    assert database.update(ANN, path, {"n": 2}) == 403
    assert database.delete(ANN, path) == 403


@pytest.mark.parametrize(
    "path",
    ["apps/a", "apps/a/api_keys/k", "leases/l", "dead_letters/d", "users/ann/integrations/mail",
     "users/ann/developer_keys/k", "users/ann/mcp_keys/k", "users/ann/mcp_sessions/s",
     "users/ann/voice_sessions/v",
     "users/ann/integrations/mail/claims/refresh", "users/ann/authorizations/x",
     "users/ann/idempotency/i", "users/ann/limits/l", "users/ann/runs/r", "users/ann/devices/d",
     "users/ann/conversations/c1/answers/a", "anything/else"],
)  # fmt: skip
def test_a_client_cannot_read_or_write_internal_documents(database: Database, path: str):
    database.create("owner", path, {"n": 1})

    assert database.read(ANN, path) == 403
    assert database.create(ANN, f"{path}2", {"n": 1}) == 403
    assert database.replace(ANN, path, {"n": 2}) == 403
