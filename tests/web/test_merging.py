"""Merging of conversations in the console, and undoing it within the hour."""

from playwright.sync_api import expect

from tests.web.console import Console


def test_chosen_conversations_are_merged_and_undone_u7(console: Console) -> None:
    console.sign_in("uniter")
    page = console.page
    console.add_transcript("Ann: The lighthouse was closed on Sunday.")
    console.add_transcript("Ben: The bakery opens at seven.")
    expect(page.locator("#conversations .card[aria-busy=false]")).to_have_count(2)
    page.locator("#conversations .card").first.click()
    page.get_by_role("button", name="Share this conversation by a link").click()
    expect(page.locator("#reader .secret")).to_be_visible()
    page.get_by_role("button", name="Close", exact=True).click()
    page.reload()
    cards = page.locator("#conversations .card")
    expect(page.locator("#conversations .card[aria-busy=false]")).to_have_count(2)

    page.get_by_role("button", name="Choose", exact=True).click()
    merge = page.get_by_role("button", name="Merge", exact=True)
    expect(merge).to_be_disabled()
    for box in page.locator("#conversations .choice-box").all():
        box.check()
    page.get_by_role("button", name="Merge 2").press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("The link to “")
    console.answer_dialog("Merge")

    expect(cards).to_have_count(1)
    expect(cards).to_have_attribute("aria-busy", "false")
    expect(page.locator("#merges")).to_contain_text("2 conversations became one.")

    page.reload()
    undo = page.locator("#merges").get_by_role("button", name="Undo")
    undo.press("Enter")
    expect(cards).to_have_count(2)
    expect(page.locator("#merges li")).to_have_count(0)
    assert console.page_errors == []


def test_another_recording_of_the_same_talk_is_offered_to_be_merged_u7(console: Console) -> None:
    console.sign_in("doubler")
    page = console.page
    talk = "Ann: The lighthouse near the old harbour was closed on Sunday, so we took the ferry."
    console.add_transcript(talk)
    console.add_transcript(talk.replace("took the ferry", "took a ferry"))
    cards = page.locator("#conversations .card")
    expect(page.locator("#conversations .card[aria-busy=false]")).to_have_count(2)
    cards.first.click()
    expect(page.locator("#reader")).to_contain_text("holds the same talk.")

    page.locator("#reader").get_by_role("button", name="Merge").press("Enter")

    expect(cards).to_have_count(1)
    expect(page.locator("#merges")).to_contain_text("2 conversations became one.")
    assert console.page_errors == []
