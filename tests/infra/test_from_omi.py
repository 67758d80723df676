"""Moving from Omi's own project: documents as its backend writes them come into a library, nothing lost (L4).

Fields and forms were read from BasedHardware/omi (backend/database, backend/models).
"""

import asyncio
import json
import zlib
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore import Client

from infra.emulators.firestore import run_firestore
from infra.from_omi.__main__ import Report, move
from shared.data.store.omi_form import OmiForm
from shared.domain.ids import UserId
from tests.conftest import ROOT, run_or_skip
from tests.e2e.product import ask, run_product
from tests.e2e.test_moving import run_command, search
from tests.e2e.waiting import wait_until
from tests.shared.data.test_omi_form import SECRET, build_omi_fields, encrypt_as_omi

pytestmark = pytest.mark.emulators

PROJECT, ANN = "demo-omi", UserId("ann-of-omi")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
LEVEL = {"data_protection_level": "enhanced"}
TALKS = ("standard", "enhanced", "older-enhanced", "a-list")


def encrypt(text: str, secret: str = SECRET) -> str:
    return encrypt_as_omi(text, uid=ANN, secret=secret)


def build_talk(name: str) -> dict[str, Any]:
    """Build a conversation at one of Omi's levels, with words and an hour of its own."""
    at = START + timedelta(days=TALKS.index(name))
    segments = [
        {"id": f"{name}-1", "text": f"The harbour of {name} is lovely.", "speaker": "SPEAKER_00",
         "speaker_id": 0, "is_user": True, "person_id": None, "start": 0.0, "end": 4.0},
        {"id": f"{name}-2", "text": "I bring the map on Friday.", "speaker": "SPEAKER_01",
         "speaker_id": 1, "is_user": False, "person_id": "bob", "start": 4.0, "end": 7.0},
    ]  # fmt: skip
    listed = json.dumps(segments)
    packed = zlib.compress(listed.encode())
    stored: Any = {
        "standard": packed,
        "enhanced": encrypt(packed.hex()),
        "older-enhanced": encrypt(listed),
        "a-list": segments,
    }[name]
    return {
        **build_omi_fields("a list"),
        "id": name,
        "created_at": at,
        "started_at": at,
        "finished_at": at + timedelta(minutes=5),
        "transcript_segments": stored,
        "transcript_segments_compressed": name in ("standard", "enhanced"),
        "data_protection_level": "enhanced" if "enhanced" in name else "standard",
        "folder_id": "boats",
        "starred": name == "standard",
        "audio_files": [{"id": "f"}] if name == "standard" else [],
    }


def build_message(text: str, sender: str, minute: int, **others: Any) -> dict[str, Any]:
    return {
        "id": f"message-{minute}", "text": encrypt(text), "sender": sender, "type": "text",
        "created_at": START + timedelta(minutes=minute), "app_id": None, "plugin_id": None,
        "from_external_integration": False, "memories_id": [], "reported": False, "report_reason": None,
        "files_id": [], "chat_session_id": "untitled", "rating": None, "chart_data": None, **LEVEL, **others,
    }  # fmt: skip


def list_documents() -> Mapping[str, dict[str, Any]]:
    """Return everything that Omi's backend keeps of a user, by path below the user."""
    times = {"created_at": START, "updated_at": START}
    memory: dict[str, Any] = {"category": "hobbies", "visibility": "public", "reviewed": False, "user_review": None,
              "manually_added": False, "edited": False, "scoring": "00_999_1772442000", "tags": [], **times, **LEVEL}  # fmt: skip
    folder = {
        "description": None,
        "color": "#3B82F6",
        "is_system": False,
        "category_mapping": None,
        **times,
    }
    return {
        **{f"conversations/{name}": build_talk(name) for name in TALKS},
        "conversations/other-secret": {
            **build_talk("enhanced"), "id": "other-secret",
            "transcript_segments": encrypt("00", secret="x" * 32),
        },
        "conversations/standard/photos/p": {"id": "p", "base64": encrypt("aGk="), "description": "A pier",
                                            "created_at": START, "discarded": False, **LEVEL},
        "memories/tea": {**memory, "id": "tea", "uid": ANN, "content": encrypt("Ann likes green tea"),
                         "memory_id": "standard", "conversation_id": "standard"},
        "memories/coffee": {**memory, "content": encrypt("Ann likes coffee"), "user_review": False},
        "action_items/lamp": {"description": "Buy a lamp", "completed": False, "status": "active",
                              "due_at": START + timedelta(days=9), "conversation_id": "standard",
                              "owner": "unknown", "provenance": [], "sort_order": 0, "indent_level": 0, **times},
        "action_items/gone": {"description": "Sell the boat", "completed": False, "deleted": True, **times},
        "people/bob": {"id": "bob", "name": "Bob", "speech_samples": [], **times},
        "folders/other": {**folder, "id": "other", "name": "Other", "order": 1, "is_default": True, "icon": "📁"},
        "folders/boats": {**folder, "id": "boats", "name": "Boats", "order": 0, "is_default": False, "icon": "⛵"},
        "goals/sail": {"id": "sail", "goal_id": "sail", "title": "Sail", "goal_type": "numeric", "status": "background",
                       "target_value": 5.0, "current_value": 2.0, "min_value": 0.0, "max_value": 10.0,
                       "unit": "trips", "is_active": True, "metric": None, **times},
        "goals/sail/goal_history/2026-03-02": {"date": "2026-03-02", "value": 2.0, "recorded_at": START},
        "daily_summaries/7a1c": {"id": "7a1c", "date": "2026-03-02", "created_at": START, "headline": "A day at sea",
                                 "overview": "You planned a trip.", "day_emoji": "⛵", "highlights": [],
                                 "action_items": [], "stats": {"total_conversations": 4}, "overall_sentiment": "calm"},
        "chat_sessions/untitled": {"id": "untitled", "plugin_id": None, "app_id": None, "created_at": START,
                                   "message_ids": [], "file_ids": []},
        "chat_sessions/trip": {"id": "trip", "title": "The trip", "plugin_id": None, "starred": True, **times},
        "messages/auto1": build_message("When do we sail?", "human", 1, files_id=["f"]),
        "messages/auto2": build_message("On Friday.", "ai", 2, rating=1, memories_id=["standard"]),
        "messages/auto3": build_message("Who comes along?", "human", 3, chat_session_id="trip"),
        "messages/auto4": build_message("Forget this", "human", 4, deleted=True),
        "fcm_tokens/ios_x": {"token": "t"},
        "dreams/1": {"text": "of something new"},
    }  # fmt: skip


def read_omi(address: str, out: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """Store the documents as Omi does, and read them by our command."""
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", address)
    with closing(Client(project=PROJECT, credentials=AnonymousCredentials())) as client:
        client.document(f"users/{ANN}").set({"time_zone": "Europe/Berlin", "name": "Ann", **LEVEL})
        for path, fields in list_documents().items():
            client.document(f"users/{ANN}/{path}").set(fields)
    return asyncio.run(move(PROJECT, ANN, out, OmiForm(secret=SECRET)))[ANN]


def test_a_project_of_omi_becomes_a_library_and_tells_what_it_leaves_l4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = ROOT / "infra/firestore.rules"
    with run_or_skip(lambda: run_firestore(tmp_path / "omi.log", rules=rules)) as address:
        report = read_omi(address, tmp_path / "from-omi", monkeypatch)
    with run_product(tmp_path) as product:
        told = run_command(product, "ann", "import_", str(tmp_path / "from-omi" / ANN), "--wait")
        with product.client("ann") as ann:
            check_library(ann)
            found = wait_until(lambda: search(ann, "harbour enhanced") or None)
            answer = ask(ann, "What did we say about the harbour of standard?")

    assert "4 completed, 0 failed" in told, told
    assert report.taken == {"conversations": 4, "memories": 1, "action_items": 1, "people": 1, "folders": 2, "photos": 1,
                            "goals": 1, "daily_summaries": 1, "chat_sessions": 1, "messages": 3}  # fmt: skip
    left = {path.removeprefix(f"users/{ANN}/") for paths in report.left.values() for path in paths}
    assert left == {"conversations/other-secret", "conversations/standard", "messages/auto1", "memories/coffee", "action_items/gone", "messages/auto4",
                    "chat_sessions/untitled", "fcm_tokens/ios_x", "dreams/1"}  # fmt: skip
    assert "enhanced" in found
    assert "lovely" in answer.text


def check_library(http: httpx.Client) -> None:
    """Check that all lists hold what Omi held."""

    def get(path: str) -> Any:
        return http.get(path).raise_for_status().json()

    talks = {talk["id"]: talk for talk in get("/v1/conversations?limit=50")}
    assert talks.keys() == set(TALKS)
    for name, talk in talks.items():
        texts = [segment["text"] for segment in talk["transcript_segments"]]
        assert texts == [f"The harbour of {name} is lovely.", "I bring the map on Friday."]
        assert talk["structured"]["title"] == "Lunch"
        assert talk["folder_id"] == "boats"
        assert talk["transcript_segments"][1]["person_id"] == "bob"
    assert talks["standard"]["starred"]
    assert [photo["description"] for photo in talks["standard"]["photos"]] == ["A pier"]
    assert [m["content"] for m in get("/v3/memories")] == ["Ann likes green tea"]
    assert "Buy a lamp" in [task["description"] for task in get("/v1/action-items")["action_items"]]
    assert [person["name"] for person in get("/v1/users/people")] == ["Bob"]
    assert [folder["name"] for folder in get("/v1/folders")] == ["Boats", "Other"]
    assert [goal["title"] for goal in get("/v1/goals/all")] == ["Sail"]
    assert {"The trip"} <= {chat["title"] for chat in get("/v2/chat-sessions")}
    texts = [message["text"] for message in get("/v2/messages")]
    assert {"When do we sail?", "On Friday."} <= set(texts)
    assert [m["text"] for m in get("/v2/messages?chat_session_id=trip")] == ["Who comes along?"]
    assert get("/v1/users/daily-summaries")["summaries"][0]["headline"] == "A day at sea"
