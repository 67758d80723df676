"""Search in chats in the console (U7): words are marked, and a hit opens its chat at the message."""

from playwright.sync_api import expect

from tests.web.console import Console


def search(console: Console, words: str) -> None:
    console.page.get_by_label("Search in chats").fill(words)
    console.page.keyboard.press("Enter")


def test_a_hit_opens_its_chat_at_the_message_u7(console: Console) -> None:
    console.sign_in("searcher")
    console.ask("What about tulips?")
    page = console.page
    page.get_by_role("button", name="Chats", exact=True).click()
    page.get_by_role("button", name="New chat", exact=True).click()
    expect(console.answers).to_have_count(1)
    console.ask("What about ferries?")

    search(console, "tulip")

    hits = page.locator("#chat-hits li")
    expect(hits.locator("mark").first).to_have_text("tulips")
    expect(page.locator("#chat-list")).to_be_hidden()
    question = hits.filter(has_text="What about tulips?").last
    question.get_by_role("button").click()
    found = page.locator(".message.human").filter(has_text="What about tulips?")
    expect(found).to_be_focused()
    expect(found).to_be_in_viewport()
    search(console, "")
    expect(page.locator("#chat-list")).to_be_visible()
    assert console.page_errors == []


def test_a_hit_in_another_version_shows_that_version_u7(console: Console) -> None:
    console.sign_in("version-searcher")
    console.ask("What about tulips?")
    page = console.page
    page.get_by_role("button", name="Edit this question").click()
    page.locator(".editing textarea").fill("What about ferries?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    page.get_by_role("button", name="Chats", exact=True).click()

    search(console, "tulips")
    page.locator("#chat-hits li").filter(has_text="What about tulips?").last.get_by_role(
        "button"
    ).click()

    expect(page.locator(".message.human > p")).to_have_text("What about tulips?")
    expect(page.get_by_role("group", name="Version 1 of 2")).to_be_visible()


def test_a_search_without_hits_says_so(console: Console) -> None:
    console.sign_in("unlucky")
    console.page.get_by_role("button", name="Chats", exact=True).click()

    search(console, "xylophone")

    expect(console.page.locator("#chat-hit-count")).to_have_text("Nothing found.")
    expect(console.page.get_by_role("button", name="Search older messages")).to_be_hidden()
