"""Addresses of the console: every view, chat and conversation can be reloaded, left and come back to."""

from playwright.sync_api import expect

from tests.web.console import Console

TRANSCRIPT = "Ann: Theo is allergic to peanuts.\nBen: I will tell the kitchen."
VIEWS = (
    "library",
    "timeline",
    "memories",
    "tasks",
    "goals",
    "summaries",
    "people",
    "apps",
    "inbox",
    "chats",
)


def test_a_view_is_shown_again_after_a_reload(console: Console) -> None:
    console.sign_in("address-views")

    for view in VIEWS:
        console.show_view(view)
        expect(console.page).to_have_url(f"{console.origin}/#/{view}")
        console.page.reload()
        expect(console.page.locator(f"#{view}")).to_be_visible()
        expect(console.page).to_have_title(f"{view.capitalize()} · Keepsake")


def test_a_conversation_has_an_address_and_back_closes_it(console: Console) -> None:
    console.sign_in("address-reader")
    console.add_transcript(TRANSCRIPT).click()
    transcript = console.page.locator("#reader .transcript")
    expect(transcript).to_contain_text("peanuts")
    assert "/#/conversations/" in console.page.url

    console.page.reload()
    expect(transcript).to_contain_text("peanuts")
    console.page.get_by_role("button", name="Close").click()
    expect(console.page).to_have_url(f"{console.origin}/#/library")
    console.page.go_back()
    expect(transcript).to_contain_text("peanuts")
    console.page.go_back()

    expect(console.page.locator("#reader")).to_be_hidden()


def test_a_chat_has_an_address(console: Console) -> None:
    console.sign_in("address-chat")
    console.show_view("chats")
    console.page.get_by_role("button", name="New chat").click()
    expect(console.page).not_to_have_url(f"{console.origin}/#/chats")
    address = console.page.url
    expect(console.answers).to_have_count(1)
    console.ask("What can you do?")

    console.page.reload()

    expect(console.page).to_have_url(address)
    questions = console.page.locator(".message.human")
    expect(questions).to_have_count(1)
    expect(questions).to_have_text("What can you do?")


def test_signing_out_removes_the_address(console: Console) -> None:
    console.sign_in("address-leaver")
    console.show_view("tasks")

    console.sign_out()

    expect(console.page.get_by_label("Who are you?")).to_be_visible()
    assert console.page.url == f"{console.origin}/"


def test_three_keys_lead_from_the_sign_in_to_a_question(console: Console) -> None:
    console.page.goto(console.address)
    console.page.get_by_label("Who are you?").fill("address-keys")
    console.page.keyboard.press("Enter")
    console.greeting.wait_for()

    console.page.keyboard.press("Tab")
    console.page.keyboard.press("Enter")

    expect(console.page.get_by_label("Your question")).to_be_focused()
