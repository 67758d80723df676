"""Folders in the console: managed, chosen as a filter, and filled with conversations."""

from playwright.sync_api import Locator, expect

from tests.web.console import Console

TALKS = ("Ann: The lighthouse was closed on Sunday.", "Ben: The bakery opens at seven.")


def add_folder(console: Console, name: str) -> Locator:
    """Return the row of a new folder."""
    console.page.get_by_label("A new folder").fill(name)
    console.page.keyboard.press("Enter")
    return find_folder(console, name)


def find_folder(console: Console, name: str) -> Locator:
    return console.page.locator("#folders .rows > li").filter(has_text=name)


def test_folders_are_created_renamed_ordered_and_deleted_u7(console: Console) -> None:
    console.sign_in("folder-keeper")
    page = console.page
    page.goto(f"{console.origin}/#/folders")
    names = page.locator("#folders .content")
    expect(names).to_contain_text(["Personal", "Work", "Social"])

    expect(add_folder(console, "Travel")).to_contain_text("0 conversations")
    find_folder(console, "Travel").get_by_role("button", name="Move up").press("Enter")
    expect(names).to_contain_text(["Personal", "Work", "Travel", "Social"])
    expect(page.get_by_role("button", name="Move up: Travel")).to_be_focused()

    page.get_by_role("button", name="Rename Travel").click()
    page.get_by_label("Name", exact=True).fill("Journeys")
    page.keyboard.press("Enter")
    expect(names).to_contain_text(["Personal", "Work", "Journeys", "Social"])

    page.get_by_role("button", name="Delete Journeys").click()
    expect(find_folder(console, "Journeys")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete 🏠 Personal")).to_have_count(0)
    assert console.page_errors == []


def test_chosen_conversations_move_into_a_folder_that_filters_the_library_u7(
    console: Console,
) -> None:
    console.sign_in("mover")
    page = console.page
    for talk in TALKS:
        console.add_transcript(talk)
    page.goto(f"{console.origin}/#/folders")
    expect(add_folder(console, "Travel")).to_be_visible()
    console.show_view("library")
    cards = page.locator("#conversations .card")

    page.get_by_role("button", name="Choose", exact=True).press("Enter")
    page.locator("#conversations .choice-box").last.check()
    page.get_by_label("Move to a folder").select_option("Travel")
    expect(page.locator("#conversations .choice-box:checked")).to_have_count(0)
    page.get_by_label("Folder", exact=True).select_option("Travel")
    expect(cards).to_have_count(1)
    expect(cards).to_contain_text("ighthouse")
    address = page.url
    assert "/#/library/" in address

    cards.click()
    page.keyboard.press("Escape")
    expect(page).to_have_url(address)
    page.reload()
    expect(cards).to_have_count(1)
    expect(page.get_by_label("Folder", exact=True)).not_to_have_value("")
    page.go_back()
    expect(page.locator("#reader")).to_be_visible()
    page.get_by_role("button", name="Close", exact=True).click()
    page.get_by_label("Folder", exact=True).select_option("All folders")
    expect(cards).to_have_count(2)
    page.get_by_role("button", name="Choose", exact=True).click()
    page.locator("#conversations .choice-box").last.check()
    page.get_by_label("Move to a folder").select_option("No folder")
    expect(page.locator("#conversations .choice-box:checked")).to_have_count(0)
    page.goto(address)
    expect(page.locator("#folder-empty")).to_be_visible()
    assert console.page_errors == []
