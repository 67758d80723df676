"""Recordings of the phone and its device: files that it sends late, kept sound, and the owner's voice (R1)."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from tests.contracts.omi_client.objects import CONVERSATION
from tests.contracts.omi_client.phone import Phone, sign_in
from tests.contracts.omi_client.readers import (
    each,
    flag,
    integer,
    number,
    one_of,
    optional,
    shape,
    some,
    text,
)
from tests.e2e.product import run_product
from tests.e2e.waiting import wait_until
from tests.fixtures.sounds import build_tone, encode_for_device
from tests.servers import run_server
from tests.servers.transcription import KEY, FakeTranscription

HEARD = {"text": "The boat to Lisbon leaves at nine.", "language": "en"}
SECONDS = encode_for_device(build_tone(5))
RESULT = shape(
    new_memories=some(text),
    updated_memories=some(text),
    failed_segments=optional(integer, 0),
    total_segments=optional(integer, 0),
    errors=some(text),
)
STARTED = shape(
    job_id=text, status=text, total_files=integer, total_segments=integer, poll_after_ms=integer
)
STATE = shape(
    job_id=text,
    status=one_of("queued", "processing", "completed", "partial_failure", "failed"),
    total_segments=integer,
    processed_segments=integer,
    successful_segments=integer,
    failed_segments=integer,
    result=optional(RESULT),
    error=optional(text),
)
AUDIO_URLS = shape(
    audio_files=each(
        shape(
            id=text,
            status=one_of("cached", "pending"),
            signed_url=optional(text),
            content_type=optional(text),
            duration=number,
        )
    )
)
PLACE = {"segment_idx": 0, "person_id": "null"}


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Phone]:
    """A phone whose server hears; its owner keeps the sound."""
    with ExitStack() as stack:
        url = stack.enter_context(run_server(FakeTranscription(default=HEARD).app))
        settings = {"TRANSCRIPTION_BASE_URL": f"{url}/v1", "TRANSCRIPTION_API_KEY": KEY}
        product = stack.enter_context(run_product(tmp_path_factory.mktemp("sound"), **settings))
        http = stack.enter_context(httpx.Client(base_url=product.origin, timeout=120))
        phone = sign_in(http, "recorder")
        phone.send("POST", "/v1/users/private-cloud-sync?value=true")
        yield phone


def name_files(*starts: int) -> list[tuple[str, tuple[str, bytes]]]:
    names = [f"audio_omi_opus_16000_1_fs160_{start}.bin" for start in starts]
    return [("files", (name, SECONDS)) for name in names]


def sync(phone: Phone, *starts: int, path: str = "/v2/sync-local-files") -> Any:
    """Send files as the app does, and ask until its job is over."""
    started = phone.send("POST", path, STARTED, status=202, files=name_files(*starts))
    job = f"{path}/{started['job_id']}"

    def ask():
        state = phone.get(job, STATE)
        return state if state["result"] else None

    return wait_until(ask)


@pytest.mark.client_call("syncLocalFilesV2", "fetchSyncJobStatus")
def test_files_of_the_device_become_a_conversation_at_their_time_r1(recorder):
    state = sync(recorder, 1_772_438_405, 1_772_438_400)
    again = sync(recorder, 1_772_438_400)

    (name,) = state["result"]["new_memories"]
    conversation = recorder.get(f"/v1/conversations/{name}", CONVERSATION)
    assert state["status"] == "completed"
    assert again["result"]["new_memories"] == [name]
    assert conversation["started_at"].isoformat() == "2026-03-02T08:00:00+00:00"
    assert [s["text"] for s in conversation["transcript_segments"]] == [HEARD["text"]]


@pytest.mark.client_call("syncLocalFiles")
def test_the_older_call_returns_the_conversations_r1(recorder):
    files = name_files(1_772_445_600)

    result = recorder.send("POST", "/v1/sync-local-files", RESULT, files=files)

    (name,) = result["new_memories"]
    assert recorder.get(f"/v1/conversations/{name}", CONVERSATION)["id"] == name


def test_files_that_cannot_be_read_are_refused_in_words_r1(recorder):
    for path in ("/v1/sync-local-files", "/v2/sync-local-files"):
        files = [("files", ("notes.bin", b"notes"))]
        status, detail = recorder.refuse("POST", path, files=files)
        assert (status, detail.split(":")[0]) == (422, "notes.bin")
    assert recorder.refuse("GET", "/v2/sync-local-files/unknown")[0] == 404


@pytest.mark.client_call(
    "getConversationAudioSignedUrls", "precacheConversationAudio", "getAudioStreamUrl"
)
def test_kept_sound_is_played_r1(recorder):
    (name,) = sync(recorder, 1_772_452_800)["result"]["new_memories"]
    recorder.send("POST", f"/v1/sync/audio/{name}/precache")
    (file,) = recorder.get(f"/v1/sync/audio/{name}/urls", AUDIO_URLS)["audio_files"]
    (listed,) = recorder.get(f"/v1/conversations/{name}", CONVERSATION)["audio_files"]
    streamed = recorder.http.get(f"/v1/sync/audio/{name}/{file['id']}", params={"format": "wav"})

    assert listed["id"] == file["id"]
    assert file["status"] == "cached"
    assert httpx.get(file["signed_url"]).content == streamed.content
    assert streamed.content[:4] == b"RIFF"


@pytest.mark.client_call(
    "uploadProfile", "userHasSpeakerProfile", "getUserSpeechProfile", "deleteProfileSample"
)
def test_a_sample_of_the_owners_voice_is_taken_and_played_r1(recorder):
    has, url = shape(has_profile=flag), shape(url=optional(text))
    before = recorder.get("/v3/speech-profile", has), recorder.get("/v4/speech-profile", url)
    sample = {"file": ("temp.wav", build_tone(8))}
    stored = recorder.send("POST", "/v3/upload-audio", shape(url=text), files=sample)
    recorder.send("DELETE", "/v3/speech-profile/expand", params={"memory_id": "m", **PLACE})

    assert before == ({"has_profile": False}, {"url": None})
    assert recorder.get("/v3/speech-profile", has) == {"has_profile": True}
    assert recorder.get("/v4/speech-profile", url) == stored
    assert httpx.get(stored["url"]).content == build_tone(8)
