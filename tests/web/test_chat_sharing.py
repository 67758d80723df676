"""Sharing a chat from the console (U7): the page of the link needs no sign-in and shows the words alone."""

from playwright.sync_api import Browser, expect

from tests.web.console import Console


def share(console: Console) -> str:
    console.page.get_by_role("button", name="Share this chat by a link").click()
    return console.page.locator("#chat-link code").inner_text()


def test_a_shared_chat_is_read_without_sign_in_until_it_ends_u7(
    console: Console, browser: Browser
) -> None:
    console.sign_in("sharer")
    answer = console.ask("What about tulips?")
    words = answer.locator(".prose").inner_text().split(".")[0]

    link = share(console)

    assert "/read/#" in link
    token = link.rpartition("#")[2]
    with browser.new_context() as stranger:
        page = stranger.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{console.origin}/read/#{token}")
        expect(page.get_by_label("Question")).to_have_text("What about tulips?")
        expect(page.get_by_label("Answer").last).to_contain_text(words)
        expect(page.get_by_role("button", name="Ask again")).to_have_count(0)
        expect(page.locator("meta[name=robots]")).to_have_attribute("content", "noindex")

        console.page.get_by_role("button", name="Stop sharing").click()
        expect(console.page.locator("#chat-link")).to_be_hidden()
        page.reload()
        expect(page.get_by_role("heading", name="This chat cannot be read")).to_be_visible()
        expect(page.get_by_role("status")).to_have_text("This chat is not shared.")
        assert errors == []
    assert console.page_errors == []


def test_the_link_of_another_chat_is_not_shown(console: Console) -> None:
    console.sign_in("sharer-of-two")
    console.ask("What about tulips?")
    share(console)

    console.page.get_by_role("button", name="Chats", exact=True).click()
    console.page.get_by_role("button", name="New chat", exact=True).click()

    expect(console.answers).to_have_count(1)
    expect(console.page.locator("#chat-link")).to_be_hidden()
