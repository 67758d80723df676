"""Recordings in a console without a transcriber: it says what to set, before anybody speaks in vain."""

from pathlib import Path

from playwright.sync_api import expect

from tests.fixtures.sounds import build_tone, encode
from tests.web.console import Console


def test_without_a_key_the_console_says_what_to_set_u3(console: Console, tmp_path: Path) -> None:
    memo = tmp_path / "memo.mp3"
    memo.write_bytes(encode(build_tone(1), "mp3"))
    console.sign_in("mute")
    page = console.page
    problem = page.locator("#recordings .problem")

    page.locator("#recordings .record").click()
    expect(problem).to_contain_text("make run SPEECH=local")
    page.get_by_label("Choose a recording").set_input_files(memo)

    expect(page.locator("#recordings li")).to_contain_text("Not sent")
    expect(problem).to_contain_text("make run SPEECH=local")
    assert console.page_errors == []


def test_whether_sound_is_kept_is_chosen_in_the_account_u3(console: Console) -> None:
    console.sign_in("collector")
    page = console.page
    page.locator("#account-button").click()
    page.get_by_label("Keep the sound after it is text").check()
    page.reload()
    console.greeting.wait_for()

    page.locator("#account-button").click()

    expect(page.get_by_label("Keep the sound after it is text")).to_be_checked()
