"""The bin of the console (U14): what is thrown away there is undone at once, restored later, or deleted for good."""

from playwright.sync_api import Page, expect

from tests.web.console import Console


def throw_conversation_away(console: Console, word: str) -> None:
    console.add_transcript(f"Ann: The {word} by the gate need water twice a week in summer.")
    console.page.locator("#conversations .card").filter(has_text=word).click()
    console.page.get_by_role("button", name="Delete this conversation").click()
    expect(console.page.locator("#conversations .card").filter(has_text=word)).to_have_count(0)


def open_bin(page: Page) -> None:
    page.goto(f"{page.url.split('#')[0]}#/bin")
    expect(page.get_by_role("heading", name="Bin")).to_be_visible()


def test_a_deleted_conversation_comes_back_by_undo_and_from_the_bin_u14(console: Console) -> None:
    console.sign_in(console.uid)
    page = console.page
    card = page.locator("#conversations .card").filter(has_text="tulips")
    throw_conversation_away(console, "tulips")

    page.get_by_role("button", name="Undo").click()

    expect(card).to_have_count(1)
    expect(page.locator("#undo")).to_be_hidden()
    card.click()
    page.get_by_role("button", name="Delete this conversation").click()
    expect(page.locator("#undo")).to_be_visible()
    open_bin(page)
    expect(page.locator("#bin .rows li")).to_have_count(1)
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("The bin is empty.")).to_be_visible()
    page.get_by_role("button", name="Library", exact=True).click()
    expect(card).to_have_count(1)


def test_what_is_in_the_bin_is_deleted_for_good_by_two_presses(console: Console) -> None:
    console.sign_in(console.uid)
    page = console.page
    throw_conversation_away(console, "dahlias")
    open_bin(page)

    page.get_by_role("button", name="Delete for good").click()
    expect(page.locator("#bin .rows li")).to_have_count(1)
    page.get_by_role("button", name="Delete for good", exact=True).click()

    expect(page.get_by_text("The bin is empty.")).to_be_visible()


def test_a_memory_and_a_task_are_undone_where_they_were_deleted(console: Console) -> None:
    console.sign_in(console.uid)
    page = console.page
    for view, label, text in (
        ("Memories", "A new memory", "I like ferries"),
        ("Tasks", "A new task", "Paint the fence"),
    ):
        page.get_by_role("button", name=view, exact=True).click()
        panel = page.locator(f"#{view.lower()}")
        panel.get_by_label(label, exact=True).fill(text)
        page.keyboard.press("Enter")
        row = panel.get_by_role("button", name="Delete:")
        row.click()
        expect(row).to_have_count(0)

        page.get_by_role("button", name="Undo").click()

        expect(row).to_have_count(1)
