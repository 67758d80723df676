"""Calls of the released app for parts of a conversation, kept sound, imports and files of a chat (R1, R2)."""

import base64
import io
import zipfile
from typing import Any

import pytest

from tests.contracts.omi_client.objects import ACTION_ITEM_PAGE, FILE, MESSAGE, PHOTO
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import each, flag, integer, one_of, optional, shape, text
from tests.e2e.waiting import wait_until
from tests.fixtures.pictures import build_picture
from tests.old_app import parse_as_old_app

CONVERSATIONS = "/v1/conversations"
PERMISSION = "/v1/users/store-recording-permission"
IMPORT_JOB = shape(
    job_id=text,
    status=one_of("pending", "processing", "completed", "failed"),
    total_files=optional(integer),
    processed_files=optional(integer),
    conversations_created=optional(integer),
    created_at=optional(text),
    error=optional(text),
)
EVENING = {
    "text": "We meet on March 5 at 19:00 for dinner with Ann. I will book the table. "
    "The harbour was quiet, and we talked for a long while about boats and the weather.",
    "speaker": "SPEAKER_00",
    "is_user": True,
    "start": 0.0,
    "end": 9.5,
}
NOTE = b"# Porto\n\nWe looked at two flats near the river, and liked the second one.\n"


@pytest.mark.client_call("getConversationPhotos", "hasConversationRecording")
def test_photos_and_whether_sound_is_kept_are_told_r1(phone: Phone, sign_up: Any) -> None:
    photo = {"id": "p", "base64": base64.b64encode(b"x").decode(), "description": "A table"}
    talk = phone.add_conversation(photos=[photo])["id"]

    [shown] = phone.get(f"{CONVERSATIONS}/{talk}/photos", each(PHOTO))
    kept = phone.get(f"{CONVERSATIONS}/{talk}/recording", shape(has_recording=flag))

    assert (shown["id"], shown["description"]) == ("p", "A table")
    assert kept == {"has_recording": False}
    stranger = sign_up()
    paths = [f"{CONVERSATIONS}/{talk}/{part}" for part in ("photos", "recording", "action-items")]
    assert [stranger.refuse("GET", path)[0] for path in paths] == [404] * 3


@pytest.mark.client_call("getConversationActionItems", "createActionItemsBatch")
def test_the_tasks_of_a_conversation_are_listed_and_several_are_written_at_once_r1(phone: Phone):
    talk = phone.add_conversation(transcript_segments=[EVENING])["id"]
    tasks = [{"description": "Call Bob", "conversation_id": talk}, {"description": "Read"}]

    added = phone.send("POST", "/v1/action-items/batch", json=tasks)
    listed = phone.get(f"{CONVERSATIONS}/{talk}/action-items", ACTION_ITEM_PAGE)

    assert added["created_count"] == 2
    assert "Call Bob" in [task["description"] for task in listed["action_items"]]
    assert "Read" not in [task["description"] for task in listed["action_items"]]
    assert phone.refuse("POST", "/v1/action-items/batch", json=[])[0] == 422


@pytest.mark.client_call("setConversationEventsState")
def test_an_event_that_went_into_a_calendar_stays_ticked_r1(phone: Phone) -> None:
    conversation = phone.add_conversation(transcript_segments=[EVENING])
    path = f"{CONVERSATIONS}/{conversation['id']}"
    assert [event["created"] for event in conversation["structured"]["events"]] == [False]

    phone.send("PATCH", f"{path}/events", json={"events_idx": [0], "values": [True]})

    [event] = phone.get(path)["structured"]["events"]
    assert (event["created"], event["title"]) == (
        True,
        conversation["structured"]["events"][0]["title"],
    )
    beyond = {"events_idx": [7], "values": [True]}
    assert phone.refuse("PATCH", f"{path}/events", json=beyond) == (404, "Event not found")


@pytest.mark.client_call(
    "getStoreRecordingPermission", "setRecordingPermission", "deletePermissionAndRecordings"
)
def test_the_permission_to_keep_sound_is_that_of_the_cloud_sync_r1(phone: Phone) -> None:
    permission = shape(store_recording_permission=flag)
    before = phone.get(PERMISSION, permission)

    phone.send("POST", f"{PERMISSION}?value=true")
    allowed = phone.get(PERMISSION, permission)
    cloud_sync = phone.get("/v1/users/private-cloud-sync")
    phone.send("DELETE", PERMISSION)

    assert before == {"store_recording_permission": False}
    assert allowed == {"store_recording_permission": True}
    assert cloud_sync == {"private_cloud_sync_enabled": True}
    assert phone.get(PERMISSION, permission) == before


@pytest.mark.client_call("getTranscriptionPreferences", "setTranscriptionPreferences")
def test_the_owners_vocabulary_is_kept_field_by_field_r1(phone: Phone) -> None:
    path = "/v1/users/transcription-preferences"
    preferences = shape(single_language_mode=flag, vocabulary=each(text))
    before = phone.get(path, preferences)

    phone.send("PATCH", path, json={"vocabulary": ["Zoë", "Keepsake", "Zoë"]})
    phone.send("PATCH", path, json={"single_language_mode": True})

    assert before == {"single_language_mode": False, "vocabulary": []}
    assert phone.get(path, preferences) == {
        "single_language_mode": True,
        "vocabulary": ["Zoë", "Keepsake"],
    }
    assert phone.refuse("PATCH", path, json={"vocabulary": ["x" * 65]})[0] == 422
    assert phone.refuse("PATCH", path, json={"vocabulary": ["x"] * 101})[0] == 413


@pytest.mark.client_call("getImportJobs")
def test_imports_are_listed_as_jobs_r1(phone: Phone) -> None:
    assert phone.get("/v1/import/jobs", each(IMPORT_JOB), limit=50) == []
    made = phone.send("POST", "/v1/imports", status=202, files={"files": ("porto.md", NOTE)})

    def load_completed() -> dict[str, Any] | None:
        [job] = phone.get("/v1/import/jobs", each(IMPORT_JOB), limit=50)
        return job if job["status"] == "completed" else None

    job = wait_until(load_completed, within_s=60)

    assert job["job_id"] == made["id"]
    assert (job["total_files"], job["conversations_created"], job["error"]) == (1, 1, None)
    assert phone.get(f"/v1/import/jobs/{made['id']}", IMPORT_JOB) == job


@pytest.mark.client_call("startLimitlessImport")
def test_a_zip_of_limitless_is_imported_r1(phone: Phone) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("lifelogs/2026-03-02.md", NOTE)
    path, zip_file = "/v1/import/limitless?language=en", ("export.zip", stream.getvalue())
    started = phone.send("POST", path, IMPORT_JOB, files={"file": zip_file})

    def load_completed() -> dict[str, Any] | None:
        [job] = phone.get("/v1/import/jobs", each(IMPORT_JOB), limit=50)
        return job if job["status"] == "completed" else None

    job = wait_until(load_completed, within_s=60)

    assert (job["job_id"], job["conversations_created"]) == (started["job_id"], 1)
    assert phone.refuse("POST", path, files={"other": zip_file}) == (
        422,
        "Send the zip as the field 'file' of a form.",
    )


@pytest.mark.client_call("uploadFilesServer")
def test_a_file_of_the_chat_is_taken_and_stands_at_its_message_r1(phone: Phone) -> None:
    [file] = phone.send(
        "POST", "/v2/files", each(FILE), files={"files": ("table.png", build_picture())}
    )
    body = {"text": "What is this?", "file_ids": [file["id"]]}
    answer = phone.http.post("/v2/messages", json=body)

    question = next(m for m in phone.get("/v2/messages", each(MESSAGE)) if m["sender"] == "human")

    assert (file["name"], file["mime_type"]) == ("table.png", "image/png")
    assert parse_as_old_app([answer.content]).done is not None
    assert [each_file["id"] for each_file in question["files"]] == [file["id"]]
