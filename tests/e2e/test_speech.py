"""Speech at the started product: a kill costs no recording, and a cut connection no byte of an upload."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from tests.e2e.product import Product, run_product, wait_for_processing
from tests.e2e.waiting import wait_until
from tests.fixtures.sounds import build_tone, encode
from tests.servers import run_server
from tests.servers.transcription import KEY, FakeTranscription, diarized

MEMO = diarized(("A", 0.0, 2.0, "Remember to water the tulips on Friday before the trip."))
PART_TYPE = "application/offset+octet-stream"
MP3 = encode(build_tone(20), "mp3")
SPOKEN_S, SECOND_BYTES = 15, 32_000
SPOKEN = build_tone(SPOKEN_S)[44:]


@pytest.fixture
def transcription() -> FakeTranscription:
    return FakeTranscription(default=MEMO)


@pytest.fixture
def settings(transcription: FakeTranscription) -> Iterator[dict[str, str]]:
    with run_server(transcription.app) as url:
        yield {"TRANSCRIPTION_BASE_URL": f"{url}/v1", "TRANSCRIPTION_API_KEY": KEY}


def hand_in(http: httpx.Client) -> str:
    answer = http.post("/v1/audio", files={"file": ("memo.mp3", MP3, "audio/mpeg")})
    assert answer.status_code == 202, answer.text
    name: str = answer.json()["id"]
    return name


def wait_for_text(http: httpx.Client, name: str) -> dict[str, Any]:
    def load_if_done() -> dict[str, Any] | None:
        recording: dict[str, Any] = http.get(f"/v1/audio/{name}").json()
        return recording if recording["status"] != "transcribing" else None

    return wait_until(load_if_done, within_s=60.0)


def test_a_recording_survives_a_kill_while_it_is_transcribed_u3(
    tmp_path: Path, transcription: FakeTranscription, settings: dict[str, str]
) -> None:
    transcription.gate.clear()
    with run_product(tmp_path, **settings) as product, product.client("alice") as http:
        name = hand_in(http)
        wait_until(lambda: transcription.requests or None, within_s=30.0)
        product.process.kill()
    transcription.gate.set()

    with run_product(tmp_path, **settings) as product, product.client("alice") as http:
        recording = wait_for_text(http, name)
        conversation = wait_for_processing(http, name)

    assert recording["status"] == "done"
    assert conversation["transcript_segments"][0]["text"].startswith("Remember to water")
    assert not [*(tmp_path / "data/blobs").rglob("*-*")], "the sound is deleted"


def test_a_kill_takes_ten_seconds_of_live_sound_at_most_l3(
    tmp_path: Path, transcription: FakeTranscription, settings: dict[str, str]
) -> None:
    """Nothing of it was heard yet; the device goes on with the same conversation."""
    transcription.gate.clear()
    with ExitStack() as stack:
        product = stack.enter_context(run_product(tmp_path, **settings))
        http = stack.enter_context(product.client("alice"))
        stream = stack.enter_context(open_stream(product, http))
        for at in range(0, len(SPOKEN), SECOND_BYTES):
            stream.send(SPOKEN[at : at + SECOND_BYTES])
        [recording] = wait_until(lambda: http.get("/v1/audio").json()["items"] or None)
        begun = list_live(http)
        product.process.kill()
        product.process.wait()
    with ExitStack() as stack:
        product = stack.enter_context(run_product(tmp_path, **settings))
        http = stack.enter_context(product.client("alice"))
        stack.enter_context(open_stream(product, http))
        gone_on = list_live(http)
        [left] = http.get("/v1/audio").json()["items"]

    assert SPOKEN_S - recording["duration_s"] <= 10
    assert left == recording
    assert begun == gone_on
    assert len(begun) == 1


def open_stream(product: Product, http: httpx.Client) -> ClientConnection:
    url = f"{product.origin.replace('http', 'ws')}/v4/listen?codec=pcm16&sample_rate=16000"
    headers = {"Authorization": http.headers["Authorization"]}
    return connect(url, additional_headers=headers, open_timeout=60, ping_interval=None)


def list_live(http: httpx.Client) -> list[str]:
    listed = http.get("/v1/conversations", params={"statuses": "in_progress"})
    return [each["id"] for each in listed.raise_for_status().json()]


def test_a_part_whose_connection_breaks_is_as_if_it_was_never_sent_u3(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    with ExitStack() as stack:
        product = stack.enter_context(run_product(tmp_path, **settings))
        http = stack.enter_context(product.client("alice"))
        created = http.post("/v1/uploads", headers={"Upload-Length": str(len(MP3))})
        path = created.headers["location"]
        half = len(MP3) // 2

        for sent_bytes in (0, 1, half, len(MP3) - 1):
            send_and_break(product, http, path, MP3[:sent_bytes])
            assert http.head(path).headers["upload-offset"] == "0"
        for start, end in ((0, half), (half, len(MP3))):
            headers = {"Upload-Offset": str(start), "Content-Type": PART_TYPE}
            http.patch(path, content=MP3[start:end], headers=headers).raise_for_status()
        name = created.json()["id"]
        http.post("/v1/audio", json={"upload": name}).raise_for_status()

        assert wait_for_text(http, name)["status"] == "done"


def send_and_break(product: Product, http: httpx.Client, path: str, content: bytes) -> None:
    """Announce the whole file as a part, send the beginning of it and hang up."""
    address = urlsplit(product.origin)
    lines = [
        f"PATCH {path} HTTP/1.1",
        f"Host: {address.netloc}",
        f"Authorization: {http.headers['Authorization']}",
        f"Content-Type: {PART_TYPE}",
        "Upload-Offset: 0",
        f"Content-Length: {len(MP3)}",
    ]
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + content)
