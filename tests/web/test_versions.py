"""Versions of messages in the console (U7): edit a question, ask again, and look at what was there."""

from playwright.sync_api import Locator, Page, Route, expect

from tests.web.console import Console


def find_questions(page: Page) -> Locator:
    return page.locator(".message.human > p")


def edit_question(console: Console, position: int, text: str) -> None:
    question = console.page.locator(".message.human").nth(position)
    question.get_by_role("button", name="Edit this question").click()
    console.page.locator(".editing textarea").fill(text)
    console.page.keyboard.press("Enter")


def test_an_edited_question_begins_a_branch_and_both_are_reached_u7(console: Console) -> None:
    console.sign_in("editor")
    console.ask("What about tulips?")
    console.ask("What about ferries?")

    edit_question(console, 0, "What about trams?")

    page = console.page
    switch = page.get_by_role("group", name="Version 2 of 2")
    expect(switch).to_be_visible()
    expect(find_questions(page)).to_have_text(["What about trams?"])
    console.ask("And buses?")
    switch.get_by_role("button", name="Previous version").press("Enter")
    expect(find_questions(page)).to_have_text(["What about tulips?", "What about ferries?"])
    expect(page.get_by_role("button", name="Next version")).to_be_focused()
    page.keyboard.press("Enter")
    expect(find_questions(page)).to_have_text(["What about trams?", "And buses?"])
    page.reload()
    expect(find_questions(page)).to_have_text(["What about trams?", "And buses?"])
    assert console.page_errors == []


def test_an_answer_has_several_versions_u7(console: Console) -> None:
    console.sign_in("repeater")
    console.ask("What about tulips?")
    page = console.page
    for count in (2, 3):
        page.get_by_role("button", name="Ask again").click()
        expect(page.get_by_role("group", name=f"Version {count} of {count}")).to_be_visible()

    page.get_by_role("button", name="Previous version").click()

    expect(page.get_by_role("group", name="Version 2 of 3")).to_contain_text("2 / 3")
    expect(find_questions(page)).to_have_text(["What about tulips?"])
    expect(console.answers).to_have_count(2)
    assert console.page_errors == []


def test_escape_leaves_a_question_as_it_was(console: Console) -> None:
    console.sign_in("undecided")
    console.ask("What about tulips?")
    page = console.page
    page.get_by_role("button", name="Edit this question").click()
    expect(page.locator(".editing textarea")).to_be_focused()
    page.keyboard.type("Something else")

    page.keyboard.press("Escape")

    expect(find_questions(page)).to_have_text(["What about tulips?"])
    expect(page.get_by_role("button", name="Edit this question")).to_be_focused()


def test_a_question_about_an_older_version_waits_in_the_box_u7(console: Console) -> None:
    """Two windows show one chat; the second asks after the first has chosen another version."""
    console.sign_in("two-windows")
    console.ask("What about tulips?")
    page = console.page
    with page.context.new_page() as other:
        other.goto(page.url)
        other.evaluate("sessionStorage.clear()")
        session = page.evaluate("JSON.stringify(sessionStorage)")
        other.evaluate("stored => Object.assign(sessionStorage, JSON.parse(stored))", session)
        other.reload()
        other.get_by_role("button", name="Ask again").click()
        expect(other.get_by_role("group", name="Version 2 of 2")).to_be_visible()

    console.start_question("And ferries?")

    expect(console.problem).to_contain_text("changed in another window")
    expect(page.get_by_label("Your question")).to_have_value("And ferries?")
    expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    page.keyboard.press("Enter")
    expect(console.answers).to_have_count(3)


def test_a_version_that_is_refused_leaves_the_chat_as_it_was(console: Console) -> None:
    console.sign_in("refused")
    console.ask("What about tulips?")
    page = console.page

    def refuse(route: Route) -> None:
        route.fulfill(status=429, json={"detail": "Too many questions today."})

    page.route("**/versions", refuse)
    edit_question(console, 0, "What about trams?")

    expect(console.problem).to_have_text("Too many questions today.")
    expect(page.get_by_label("Your question")).to_have_value("What about trams?")
    expect(find_questions(page)).to_have_text(["What about tulips?"])
    page.get_by_role("button", name="Ask again").click()
    expect(console.answers).to_have_count(2)
    expect(find_questions(page)).to_have_text(["What about tulips?"])
