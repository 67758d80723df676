"""Whom to call, on the console: chosen by country, from the table alone (C46)."""

from playwright.sync_api import expect

from tests.web.console import Console
from tests.web.test_accessibility import list_findings


def test_whom_to_call_is_shown_for_the_country_that_is_chosen_c46(console: Console) -> None:
    console.sign_in("needy")
    support = console.page.locator("#chat-support")

    support.locator("summary").press("Enter")

    finder = support.get_by_role("link", name="findahelpline.com")
    expect(finder).to_have_attribute("href", "https://findahelpline.com")
    expect(support.get_by_text("TelefonSeelsorge")).to_have_count(0)
    support.get_by_label("Country").select_option("Germany")
    number = support.get_by_role("link", name="0800 1110111")
    expect(number).to_have_attribute("href", "tel:08001110111")
    expect(support).to_contain_text("at any hour")
    expect(finder).to_be_visible()
    assert list_findings(console.page) == []
    assert console.page_errors == []


def test_whom_to_call_can_be_called_from_the_answer_c46(console: Console) -> None:
    console.sign_in("answered")

    answer = console.ask("I want to kill myself. I am in Germany.")

    number = answer.get_by_role("link", name="0800 1110111")
    expect(number).to_have_attribute("href", "tel:08001110111")
    finder = answer.get_by_role("link", name="findahelpline.com")
    expect(finder).to_have_attribute("href", "https://findahelpline.com")
    expect(answer).to_contain_text("Find A Helpline: findahelpline.com")
    assert console.page_errors == []
