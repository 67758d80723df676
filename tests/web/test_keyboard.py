"""Keyboard: from sign-in to an answer, and to the question box past a large library."""

from playwright.sync_api import BrowserContext, expect

from tests.web.console import Console
from tests.web.test_first_paint import add_conversations


def test_two_keys_beside_the_words_lead_from_sign_in_to_an_answer_u7(console: Console) -> None:
    page = console.page
    page.goto(console.address)
    expect(page.get_by_label("Who are you?")).to_be_focused()
    page.keyboard.type("typist")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type("What can you do?")
    page.keyboard.press("Enter")

    expect(console.answers).to_have_count(2)  # the greeting, and this one


def test_the_question_box_is_near_in_a_large_library_u7(
    console: Console, context: BrowserContext
) -> None:
    add_conversations(console, context, "reader", 60)
    console.sign_in("reader")
    page = console.page
    page.reload()
    expect(page.locator("#conversations .card")).to_have_count(50)

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to your question")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type("When do the tiles of room 7 arrive?")
    page.keyboard.press("Enter")

    expect(console.answers.last).to_contain_text("tiles")
