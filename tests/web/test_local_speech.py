"""Speech on this machine in the console: a file becomes text without a key, and who speaks is said not to be known."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.product import run_product
from tests.fixtures.scripted_whisper import build_scripted_whisper
from tests.fixtures.sounds import build_tone
from tests.web.console import Console

HEARD = (0.1, -0.4, 1.1, [(0.0, 1.0, " Die Tulpen"), (1.0, 2.0, " brauchen morgen Wasser.")])


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the product as SPEECH=local does, with a model that hears the same in every sound."""
    speech = tmp_path_factory.mktemp("speech")
    build_scripted_whisper(speech, HEARD)
    settings = {"SPEECH_PACKAGES": str(speech), "SPEECH_MODEL": str(speech)}
    with run_product(tmp_path_factory.mktemp("hearing"), **settings) as product:
        yield product.origin


def test_a_file_becomes_the_words_of_one_unknown_speaker_and_is_sent_once_l2(
    console: Console, tmp_path: Path
) -> None:
    memo = tmp_path / "memo.wav"
    memo.write_bytes(build_tone(3))
    console.sign_in("hearer")
    page = console.page
    file = page.get_by_label("Choose a recording")

    file.set_input_files(memo)
    card = page.locator("#conversations .card")
    expect(card).to_have_attribute("aria-busy", "false")
    file.set_input_files(memo)
    expect(page.locator("#recordings [role=status]")).to_have_text("The recording is text now.")
    expect(page.locator("#recordings li")).to_have_count(0)

    expect(page.locator("#recordings .one-speaker")).to_contain_text("one unknown speaker")
    expect(card).to_have_count(1)
    card.click()
    line = page.locator("#reader .transcript li")
    expect(line).to_contain_text("Die Tulpen brauchen morgen Wasser.")
    expect(line.get_by_title("Name this speaker")).to_be_visible()
    assert console.page_errors == []
