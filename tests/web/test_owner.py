"""The owner in the console: this is me, whose a task is, and why a conversation has no summary."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.e2e.waiting import wait_until
from tests.web.console import Console

TRANSCRIPT = """Ann: I will bring the ladder on Friday.
Tom: I need to book the ferry. I am allergic to walnuts."""


@pytest.fixture
def context(own_context: BrowserContext) -> BrowserContext:
    return own_context


def find_tasks(page: Page, part: str = "[data-group] .rows") -> Any:
    return page.locator(f"#tasks {part} > li")


def find_own_tasks(console: Console, headers: dict[str, str]) -> list[Any] | None:
    """Return the user's tasks, None while there are none: processing goes on behind the console."""
    answer = console.page.request.get(f"{console.origin}/v1/action-items", headers=headers)
    return answer.json()["action_items"] or None


def test_this_is_me_makes_the_tasks_and_memories_of_a_speaker_mine(console: Console) -> None:
    console.sign_in("tom")
    console.add_transcript(TRANSCRIPT).click()
    page = console.page

    page.locator("#reader").get_by_role("button", name="Tom: this is me").click()
    console.answer_dialog("In all of them")
    expect(page.locator("#reader .own")).to_have_count(1)
    console.show_view("people")
    expect(page.locator("#own-names li")).to_have_text("Tom")

    headers = console.sign_in_beside(page.context, "tom")
    wait_until(lambda: find_own_tasks(console, headers))
    console.show_view("tasks")
    expect(find_tasks(page)).to_contain_text("Book the ferry")
    expect(find_tasks(page, "#waiting .rows")).to_contain_text("Ann: Bring the ladder")
    assert console.page_errors == []


def test_a_task_of_somebody_else_becomes_mine_and_goes_back_with_another_day(
    console: Console,
) -> None:
    console.sign_in("anns_friend")
    console.add_transcript(TRANSCRIPT)
    page = console.page
    console.show_view("tasks")
    page.get_by_role("button", name="Mine: Bring the ladder").click()
    task = find_tasks(page).filter(has_text="Bring the ladder")

    task.get_by_role("button", name="When and whose").click()
    form = page.locator("#tasks .rows .edit")
    form.get_by_label("Due").fill("2030-05-06T18:00")
    form.get_by_label("Whose task").fill("Eve")
    page.keyboard.press("Enter")

    waiting = find_tasks(page, "#waiting .rows").filter(has_text="Eve: Bring the ladder")
    expect(waiting.locator(".meta")).to_contain_text("2030")
    assert console.page_errors == []


def test_tasks_stand_in_groups_by_the_day_on_which_they_are_due(console: Console) -> None:
    console.sign_in("grouped")
    headers = console.sign_in_beside(console.page.context, "grouped")
    days = {
        "Post it": "2026-03-07",
        "Ring Bo": "2026-03-04",
        "Pay rent": "2026-03-01",
        "Rest": None,
    }
    for task, day in days.items():
        body = {"description": task, "due_at": day and f"{day}T12:00:00Z"}
        console.page.request.post(f"{console.origin}/v1/action-items", data=body, headers=headers)
    console.page.clock.set_fixed_time("2026-03-04T13:00:00Z")
    console.show_view("tasks")
    groups = console.page.locator("#tasks [data-group]")

    expect(groups.locator("h3")).to_have_text(["Overdue", "Today", "Later", "Without a day"])
    expect(groups.locator(".content")).to_have_text(["Pay rent", "Ring Bo", "Post it", "Rest"])
    console.page.get_by_role("checkbox", name="Ring Bo").check()

    expect(groups.locator("h3")).to_have_text(["Overdue", "Later", "Without a day", "Done"])
    assert console.page_errors == []


def test_own_names_are_added_and_taken_back(console: Console) -> None:
    console.sign_in("many_names")
    console.show_view("people")
    names = console.page.locator("#own-names li")

    console.page.get_by_label("Another name of mine").fill("Tom B.")
    console.page.keyboard.press("Enter")
    expect(names).to_have_text("Tom B.")
    console.page.get_by_role("button", name="Tom B. is not me").click()

    expect(names).to_have_count(0)


def test_a_failed_conversation_says_why_and_is_tried_again(console: Console) -> None:
    console.sign_in("unlucky")
    card = console.add_transcript(TRANSCRIPT)
    failure = {"reason": "refused_key", "detail": "The key was refused.", "can_retry": True}
    failing = [True]

    def add_failure(route: Route) -> None:
        response = route.fetch()
        body = response.json()
        route.fulfill(json={**body, "failure": failure} if failing else body)

    def end_failure(route: Route) -> None:
        failing.clear()
        route.continue_()

    console.page.route("**/v1/conversations/*", add_failure)
    console.page.route("**/reprocess", end_failure)
    card.click()
    reader = console.page.locator("#reader")
    expect(reader.get_by_text("The key was refused.")).to_be_visible()

    reader.get_by_role("button", name="Try again").click()

    expect(reader.get_by_text("The key was refused.")).to_have_count(0)
    expect(reader.locator(".transcript li")).to_have_count(2)


def test_that_nobody_is_known_is_not_said_before_both_lists_are_read(console: Console) -> None:
    console.sign_in("hostess")
    console.add_transcript("Vera: The cake is ready.\nMe: Thank you, Vera.\n")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    console.page.route("**/v1/users/speakers", hold)

    with console.page.expect_response("**/v1/users/people*"):
        console.show_view("people")
    said_early = console.page.get_by_text("No people yet").is_visible()
    held[0].continue_()

    expect(console.page.locator("#speakers")).to_contain_text("Vera")
    assert not said_early
