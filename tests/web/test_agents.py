"""Agents and focus modes in the console: made, asked in their own chats, shared and switched."""

from playwright.sync_api import Locator, expect

from tests.web.console import Console
from tests.web.test_chat_files import build_picture


def add_agent(console: Console, name: str, instructions: str) -> Locator:
    """Return the row of a new agent."""
    page = console.page
    console.show_view("agents")
    page.get_by_role("button", name="New agent").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("What it is for").fill("Practice")
    page.get_by_label("How it answers").fill(instructions)
    page.locator("#agents").get_by_role("button", name="Save").press("Enter")
    return page.locator("#agents .rows > li").filter(has_text=name)


def test_an_agent_is_made_changed_and_asked_in_a_chat_of_its_own_x5(console: Console) -> None:
    console.sign_in("agent-maker")
    page = console.page
    row = add_agent(console, "Tutor", "Answer with a question.")
    expect(row.get_by_role("button", name="Tutor Practice")).to_be_focused()

    row.get_by_role("button", name="Edit: Tutor").press("Enter")
    page.get_by_label("Emoji").fill("🦉")
    page.get_by_label("It may search your library and use tools").uncheck()
    page.keyboard.press("Enter")
    row.get_by_role("button", name="🦉 Tutor").press("Enter")

    expect(page.locator("#chat-guides")).to_contain_text("With 🦉 Tutor")
    expect(console.ask("What is a kestrel?")).to_be_visible()
    assert console.page_errors == []


def test_an_agent_gets_a_picture_x5(console: Console) -> None:
    console.sign_in("agent-painter")
    page = console.page
    row = add_agent(console, "Painter", "Answer in colours.")

    row.get_by_role("button", name="Edit: Painter").press("Enter")
    page.get_by_label("Picture").set_input_files([build_picture()])
    page.locator("#agents").get_by_role("button", name="Save").press("Enter")

    portrait = row.locator("img")
    expect(portrait).to_be_visible()
    assert portrait.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    assert console.page_errors == []


def test_an_agent_is_shared_by_a_link_and_copied_x5(console: Console) -> None:
    console.sign_in("agent-sharer")
    page = console.page
    row = add_agent(console, "Chef", "Answer with a recipe.")
    row.get_by_role("button", name="Share Chef by a link").press("Enter")
    address = row.locator("code").inner_text()

    console.sign_out()
    console.sign_in("agent-copier")
    page.goto(address)
    offer = page.locator("#agents .offer")
    expect(offer).to_contain_text("Answer with a recipe.")
    offer.get_by_role("button", name="Add").press("Enter")

    copy = page.locator("#agents .rows > li").filter(has_text="Chef")
    expect(copy).to_contain_text("Written by somebody else")
    copy.get_by_role("button", name="Delete Chef").press("Enter")
    expect(copy).to_have_count(0)
    assert console.page_errors == []


def test_a_focus_mode_is_saved_and_switched_on_in_a_chat_m104(console: Console) -> None:
    console.sign_in("focus-keeper")
    page = console.page
    console.show_view("agents")
    page.get_by_label("A new focus mode").fill("Exam")
    page.locator("#focus-text").fill("Only answer about the exam.")
    page.keyboard.press("Enter")
    expect(page.locator("#focus-modes .rows > li")).to_contain_text("Only answer about the exam.")

    console.ask("When is it?")
    choice = page.get_by_label("Focus mode", exact=True)
    with page.expect_response(lambda response: response.url.endswith("/focus")) as switched:
        choice.select_option("Exam")
    assert switched.value.status == 200
    page.reload()
    expect(choice.locator("option:checked")).to_have_text("Exam")
    assert console.page_errors == []
