"""Daily summaries in the console: made, listed, read and scheduled."""

from playwright.sync_api import expect

from tests.web.console import Console

TALK = """Me: We decided to paint the kitchen green.
Ben: I will buy the paint on Friday, and you bring the brushes, as the shop near the station has none."""


def test_a_day_is_summarised_read_and_left_u7(console: Console) -> None:
    console.sign_in("diarist")
    page = console.page
    console.add_transcript(TALK)
    console.show_view("summaries")
    expect(page.locator("#summaries .empty")).to_be_visible()

    page.get_by_role("button", name="Summarise today").press("Enter")
    heading = page.locator("#summaries .summary h3")
    expect(heading).to_be_focused()
    expect(page.locator("#summaries .summary")).to_contain_text("1 conversation")
    address = page.url
    assert "/#/summaries/2" in address

    page.reload()
    expect(heading).to_be_visible()
    expect(page).to_have_url(address)
    page.get_by_role("button", name="All summaries").press("Enter")
    expect(page).to_have_url(f"{console.origin}/#/summaries")
    page.locator("#summaries .day").press("Enter")
    expect(heading).to_be_focused()
    page.go_back()
    expect(page.locator("#summaries .day")).to_have_count(1)
    assert console.page_errors == []


def test_a_day_without_conversations_is_refused_in_words_u7(console: Console) -> None:
    console.sign_in("silent")
    console.show_view("summaries")

    console.page.get_by_role("button", name="Summarise today").click()

    expect(console.problem).to_have_text("There is no conversation on that day to summarise.")
    expect(console.page.get_by_role("button", name="Summarise today")).to_be_enabled()


def test_what_was_decided_and_counted_leads_to_its_line_by_day_and_by_week(
    console: Console,
) -> None:
    console.sign_in(console.uid)
    page = console.page
    console.add_transcript(
        "Ben: The paint costs forty pounds.\nMe: We decided to paint the kitchen green.\nBen: I will buy the paint."
    )
    console.show_view("summaries")
    page.get_by_role("button", name="Summarise today").click()
    summary = page.locator("#summaries .summary")
    expect(summary).to_contain_text("We decided to paint the kitchen green.")
    expect(summary).to_contain_text("Ben: The paint costs forty pounds.")

    page.get_by_role("button", name="All summaries").click()
    page.get_by_role("button", name="Week of").click()
    expect(summary.get_by_role("heading", name="Numbers")).to_be_visible()
    summary.get_by_role("button", name="Open the conversation: We decided").click()

    expect(page.locator("#reader .cited")).to_have_count(1)
    expect(page.locator("#reader .cited")).to_contain_text("We decided to paint the kitchen green.")
    page.keyboard.press("Escape")
    summary.locator(".day").click()
    expect(summary.get_by_role("heading", name="Decided")).to_be_visible()
    assert console.page_errors == []
