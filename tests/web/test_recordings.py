"""Recordings in the console: the microphone and a file become conversations, and errors are told in words."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.contracts.omi_client.phone import sign_in
from tests.e2e.product import run_product
from tests.fixtures.sounds import build_tone, encode, encode_for_device
from tests.servers import run_server
from tests.servers.transcription import KEY, FakeTranscription, diarized, refuse
from tests.web.console import Console

MEMO = diarized(("A", 0.0, 2.0, "Remember to water the tulips on Friday before the trip."))


@pytest.fixture(scope="module")
def transcription() -> FakeTranscription:
    return FakeTranscription(default=MEMO)


@pytest.fixture(scope="module")
def origin(
    tmp_path_factory: pytest.TempPathFactory, transcription: FakeTranscription
) -> Iterator[str]:
    """Serve the product with a transcription server of its own."""
    with run_server(transcription.app) as url:
        settings = {
            "TRANSCRIPTION_BASE_URL": f"{url}/v1",
            "TRANSCRIPTION_API_KEY": KEY,
        }
        with run_product(tmp_path_factory.mktemp("recordings"), **settings) as product:
            yield product.origin


@pytest.fixture
def memo(tmp_path: Path) -> Path:
    path = tmp_path / "memo.mp3"
    path.write_bytes(encode(build_tone(3), "mp3"))
    return path


def choose_file(page: Page, path: Path) -> None:
    page.get_by_label("Choose a recording").set_input_files(path)


def test_the_microphone_becomes_a_conversation_of_its_owner_u3(
    console: Console, transcription: FakeTranscription
) -> None:
    console.sign_in("singer")
    page = console.page
    page.context.grant_permissions(["microphone"], origin=console.origin)
    button = page.locator("#recordings .record")

    button.click()
    expect(button).to_have_text("Stop and keep")
    expect(page.locator("#recordings .elapsed")).to_have_text("0:02")
    button.click()

    card = page.locator("#conversations .card").first
    expect(card).to_contain_text("tulips")
    expect(card).to_have_attribute("aria-busy", "false")
    expect(page.locator("#recordings li")).to_have_count(0)
    card.click()
    expect(page.locator("#reader .transcript .own")).to_have_count(1)
    assert transcription.requests[-1].duration_s > 1
    assert console.page_errors == []


def test_a_file_shows_its_failure_and_is_tried_again_u3(
    console: Console, transcription: FakeTranscription, memo: Path
) -> None:
    transcription.answers = [refuse(401, "invalid_api_key")]
    console.sign_in("listener")
    page = console.page

    choose_file(page, memo)

    row = page.locator("#recordings li")
    expect(row).to_contain_text("memo.mp3")
    expect(row).to_contain_text("refused the key")
    page.reload()
    console.greeting.wait_for()
    row.get_by_role("button", name="Try again").click()
    expect(page.locator("#conversations .card").first).to_contain_text("tulips")
    expect(row).to_have_count(0)
    assert console.page_errors == []


def test_what_is_no_sound_is_refused_in_words_and_stays_in_the_page_u3(
    console: Console, tmp_path: Path
) -> None:
    note = tmp_path / "note.mp3"
    note.write_text("no sound at all")
    console.sign_in("reader")
    page = console.page

    choose_file(page, note)

    expect(page.locator("#recordings .problem")).to_contain_text("This is no sound file")
    row = page.locator("#recordings li")
    expect(row.get_by_role("link", name="Save")).to_have_attribute("download", "note.mp3")
    row.get_by_role("button", name="Discard").click()
    expect(row).to_have_count(0)
    assert console.page_errors == []


def test_a_long_file_is_sent_in_parts_and_transcribed_in_pieces_u3(
    console: Console, transcription: FakeTranscription, tmp_path: Path
) -> None:
    long_file = tmp_path / "long.wav"
    long_file.write_bytes(build_tone(900))
    before = len(transcription.requests)
    console.sign_in("lecturer")
    page = console.page

    choose_file(page, long_file)

    expect(page.locator("#conversations .card").first).to_contain_text("tulips")
    patched = [url for url in console.requests if "/v1/uploads/" in url]
    assert len(patched) == 4
    assert len(transcription.requests) - before == 4
    assert console.page_errors == []


def test_kept_sound_is_heard_in_the_reader_from_each_line_on_u3(
    console: Console, transcription: FakeTranscription, memo: Path
) -> None:
    lines = [("A", 0.0, 2.0, "The tulips want water."), ("A", 2.0, 3.0, "On Friday, please.")]
    transcription.answers.append(diarized(*lines))
    console.sign_in("archivist")
    page = console.page
    page.locator("#account-button").click()
    page.get_by_label("Keep the sound after it is text").check()
    console.show_view("library")
    choose_file(page, memo)
    card = page.locator("#conversations .card").first
    expect(card).to_have_attribute("aria-busy", "false")
    card.click()

    page.locator("#reader").get_by_role("button", name="Listen").click()

    player = page.locator("#reader audio")
    player.wait_for()
    page.wait_for_function("() => document.querySelector('#reader audio').duration > 2.5")
    player.evaluate("player => player.pause()")
    page.locator("#reader").get_by_title("Listen from here").last.click()
    assert player.evaluate("player => player.currentTime") >= 2
    assert console.page_errors == []


def test_each_line_is_heard_in_the_recording_that_holds_it_l1(console: Console) -> None:
    with httpx.Client(base_url=console.origin, timeout=120) as http:
        phone = sign_in(http, "walker")
        phone.send("POST", "/v1/users/private-cloud-sync?value=true")
        for start in (1_772_438_400, 1_772_438_460):
            name = f"audio_omi_opus_16000_1_fs160_{start}.bin"
            files = [("files", (name, encode_for_device(build_tone(60))))]
            phone.send("POST", "/v1/sync-local-files", files=files)
    console.sign_in("walker")
    console.show_view("library")
    console.page.locator("#conversations .card").first.click()
    reader = console.page.locator("#reader")
    lines = reader.get_by_title("Listen from here")
    expect(lines).to_have_count(2)

    lines.last.click()

    reader.locator("audio").wait_for()
    console.page.wait_for_function("() => document.querySelector('#reader audio').currentTime > 0")
    assert reader.locator("audio").evaluate("player => player.currentTime") < 30
    expect(reader.get_by_role("button", name="1772438400")).to_be_visible()
    assert console.page_errors == []
