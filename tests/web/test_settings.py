"""Settings in the console: sections with addresses of their own."""

import re
from contextlib import ExitStack

from playwright.sync_api import Route, expect

from tests.web.console import Console

SECTIONS = {
    "model": "Model",
    "programs": "Programs",
    "answers": "How the assistant answers",
    "privacy": "Privacy",
    "notifications": "Notifications",
    "summary": "Daily summary",
    "language": "Language",
    "usage": "Usage",
    "data": "Export everything",
}


def test_a_section_of_the_settings_has_an_address_u7(console: Console) -> None:
    console.sign_in("settler")
    page = console.page

    for section, title in SECTIONS.items():
        page.locator("#account-button").click()
        link = page.locator(f".sections a[href='#/account/{section}']")
        expect(link).to_be_visible()
        link.press("Enter")
        heading = page.locator("#account").get_by_role("heading", name=title, exact=True)
        expect(heading).to_be_focused()
        page.reload()
        expect(heading).to_be_in_viewport()
        expect(page).to_have_url(f"{console.origin}/#/account/{section}")

    assert console.page_errors == []


def test_the_owner_chooses_what_models_read_and_is_told_what_is_not_masked_m101(
    console: Console,
) -> None:
    console.sign_in("masked")
    page = console.page
    page.locator("#account-button").click()
    masks = page.get_by_label("Hide my addresses, numbers and passwords")
    expect(masks).to_be_checked()
    expect(masks).to_have_accessible_description(
        re.compile("Names of people and street addresses are not")
    )

    masks.uncheck()
    expect(page.locator("#settings-privacy [role=status]")).to_have_text("Saved.")
    page.reload()

    expect(masks).to_be_enabled()
    expect(masks).not_to_be_checked()
    assert console.page_errors == []


def test_place_pushes_and_the_hour_of_the_summary_are_kept_u7(console: Console) -> None:
    console.sign_in("private")
    page = console.page
    page.locator("#account-button").click()
    place = page.get_by_label("The assistant may know where I am")
    pushes = page.get_by_label("Apps may notify my devices")
    hour = page.get_by_label("At this hour")
    expect(hour).to_have_value("22")

    place.click()
    expect(page.locator("#settings-privacy [role=status]")).to_have_text("Saved.")
    pushes.select_option("at most 5 a day")
    expect(page.locator("#settings-notifications [role=status]")).to_have_text("Saved.")
    hour.select_option("20:00")
    expect(page.locator("#settings-summary [role=status]")).to_have_text("Saved.")
    kept = place.is_checked()
    page.reload()

    expect(hour).to_have_value("20")
    expect(pushes).to_have_value("2")
    expect(place).to_be_checked(checked=kept)
    page.get_by_label("Summarise each day").uncheck()
    expect(hour).to_be_disabled()
    assert console.page_errors == []


def test_nothing_is_chosen_before_what_is_stored_is_there(console: Console) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    console.sign_in("careful")
    page = console.page
    with ExitStack() as requests:
        for address in ("chat-prompt", "profile", "daily-summary-settings"):
            page.route(f"**/v1/users/{address}", hold)
            requests.enter_context(page.expect_request(f"**/v1/users/{address}"))
        page.locator("#account-button").click()
    labels = ("What it keeps to", "The assistant may know where I am", "At this hour")

    for label in labels:
        expect(page.get_by_label(label)).to_be_disabled()
    for route in held:
        route.continue_()

    for label in labels:
        expect(page.get_by_label(label)).to_be_enabled()


def test_how_the_assistant_answers_is_kept_and_reset_x1(console: Console) -> None:
    console.sign_in("particular")
    page = console.page
    page.locator("#account-button").click()
    section = page.locator("#settings-answers")
    prompt = section.get_by_label("What it keeps to")
    reset = section.get_by_role("button", name="Answer as usual")
    expect(reset).to_be_disabled()

    prompt.fill("Answer like a pirate.")
    section.get_by_label("What it is reminded of").fill("Two sentences at most.")
    section.get_by_label("Your interests").fill("Sailing\n\nsailing\nOld maps")
    section.get_by_label("Later answers remember").check()
    section.get_by_label("How you like to learn").fill("by examples")
    section.get_by_role("button", name="Save").click()
    expect(section.get_by_role("status")).to_have_text("Saved. It holds from your next message on.")
    expect(section.get_by_label("Your interests")).to_have_value("Sailing\nOld maps")
    expect(section.get_by_label("Later answers remember")).to_be_checked()
    page.reload()

    expect(prompt).to_have_value("Answer like a pirate.")
    expect(section.get_by_label("How you like to learn")).to_have_value("by examples")
    reset.click()
    expect(prompt).to_have_value("")
    expect(section.get_by_label("What it is reminded of")).to_have_value("")
    expect(reset).to_be_disabled()
    assert console.page_errors == []


def test_settings_that_load_late_leave_the_reader_where_they_are(console: Console) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    console.sign_in("wanderer")
    page = console.page
    page.route("**/v1/users/chat-prompt", hold)
    for section in ("language", "usage"):
        with page.expect_request("**/v1/users/chat-prompt"):
            page.goto(f"{console.origin}/#/account/{section}")
    for route in reversed(held):
        with page.expect_response("**/v1/users/chat-prompt"):
            route.continue_()
    expect(page.get_by_label("What it keeps to")).to_be_enabled()

    heading = page.locator("#account").get_by_role("heading", name="Usage", exact=True)
    expect(heading).to_be_focused()
