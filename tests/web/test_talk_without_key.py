"""Speaking on a console without a key: it says what to set, before a microphone is asked for."""

from playwright.sync_api import expect

from shared.adapters.missing_realtime import NOT_SET_UP
from tests.web.console import Console


def test_without_a_key_talking_says_what_to_set_c76(console: Console) -> None:
    console.sign_in("mute-talker")
    talk = console.page.locator("#talk")

    console.page.get_by_role("button", name="Talk", exact=True).click()

    expect(talk.get_by_role("alert").last).to_have_text(NOT_SET_UP)
    talk.get_by_role("button", name="Close").click()
    expect(talk).to_be_hidden()
    expect(console.page.get_by_label("Your question")).to_be_focused()
    assert console.page_errors == []
