"""Questions of the console: what can be taken back is done at once, all else is asked in a dialog of its own (U14)."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from infra.local.routing import ROOT
from tests.e2e.waiting import wait_until
from tests.web.console import Console

WEB = ROOT / "web"
SCRIPTS = [file for file in sorted(WEB.rglob("*.js")) if "vendor" not in file.parts]
BROWSER_DIALOG = re.compile(r"(?<![\w.#])(?:window\.)?(?:confirm|alert|prompt)\(")
SHOWN_MS = 10_000
MANY_ROUNDS = 6
LISTS = {
    "goals": ("#goal", "#goals .rows > li"),
    "folders": ("#folder-name", "#folders .rows > li"),
    "memories": ("#rule", "#rules > .rows > li"),
}
"""Views with records that have no bin: the field of a new one, and the rows."""


@pytest.fixture
def context(own_context: BrowserContext) -> BrowserContext:
    return own_context


def test_no_script_opens_a_dialog_of_the_browser() -> None:
    found = {file.name: BROWSER_DIALOG.findall(file.read_text()) for file in SCRIPTS}

    assert {name: calls for name, calls in found.items() if calls} == {}


def add(page: Page, view: str, text: str) -> None:
    field, rows = LISTS[view]
    page.locator(field).fill(text)
    page.keyboard.press("Enter")
    expect(page.locator(rows).filter(has_text=text)).to_have_count(1)


def show(console: Console, view: str) -> None:
    console.page.goto(f"{console.page.url.split('#')[0]}#/{view}")


@pytest.mark.parametrize("view", LISTS)
def test_what_has_no_bin_comes_back_by_undo(console: Console, view: str) -> None:
    console.sign_in(console.uid)
    page = console.page
    show(console, view)
    row = page.locator(LISTS[view][1]).filter(has_text="Answer in one line")
    add(page, view, "Answer in one line")

    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    expect(row).to_have_count(1)
    page.reload()
    expect(row).to_have_count(1)


@pytest.mark.parametrize("view", LISTS)
def test_what_is_not_undone_is_deleted_once_the_line_is_gone(console: Console, view: str) -> None:
    console.sign_in(console.uid)
    page = console.page
    page.clock.install()
    page.reload()
    show(console, view)
    row = page.locator(LISTS[view][1]).filter(has_text="Answer in one line")
    add(page, view, "Answer in one line")
    row.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)

    with page.expect_response(lambda answer: answer.request.method == "DELETE") as deleted:
        for _ in range(MANY_ROUNDS):
            page.clock.fast_forward(SHOWN_MS)

    assert deleted.value.ok
    expect(page.locator("#undo")).to_be_hidden()


def test_a_page_that_is_left_deletes_what_it_said_it_deleted(console: Console) -> None:
    console.sign_in(console.uid)
    page = console.page
    show(console, "goals")
    add(page, "goals", "Learn to swim")
    headers = console.sign_in_beside(page.context, console.uid)
    page.locator("#goals .rows").get_by_role("button", name="Delete").click()
    expect(page.locator("#undo")).to_be_visible()

    page.goto("about:blank")

    url = f"{console.origin}/v1/goals/all"
    wait_until(lambda: page.request.get(url, headers=headers).json() == [] or None)


def test_a_deletion_that_fails_says_why_and_shows_the_record_again(console: Console) -> None:
    console.sign_in(console.uid)
    page = console.page
    show(console, "goals")
    add(page, "goals", "Learn to swim")
    page.route(
        "**/v1/goals/*",
        lambda route: (
            route.fulfill(status=503, json={"detail": "Try again later."})
            if route.request.method == "DELETE"
            else route.continue_()
        ),
    )
    page.locator("#goals .rows").get_by_role("button", name="Delete").click()
    expect(page.locator("#goals .empty")).to_be_visible()

    page.get_by_role("button", name=console.uid, exact=True).click()

    expect(page.locator("#undo")).to_contain_text("Try again later.")
    show(console, "goals")
    expect(page.locator("#goals .rows > li")).to_have_count(1)


def test_a_deleted_record_keeps_no_place_in_a_full_list(console: Console) -> None:
    console.sign_in(console.uid)
    page = console.page
    show(console, "goals")
    for title in ("One", "Two", "Three", "Four"):
        add(page, "goals", title)
    page.get_by_role("button", name="Delete: Three").click()
    expect(page.locator("#goals .rows > li")).to_have_count(3)

    add(page, "goals", "Five")

    titles = page.locator("#goals .rows > li > .content")
    expect(titles).to_have_text(["Five", "Four", "Two", "One"])


def test_a_question_is_left_by_escape_and_gives_the_focus_back(console: Console) -> None:
    console.sign_in(console.uid)
    page = console.page
    console.ask("What about tulips?")
    clear = page.get_by_role("button", name="Clear chat")
    clear.press("Enter")
    dialog = page.get_by_role("dialog", name="Clear this chat? Your conversations stay.")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()

    page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)
    expect(clear).to_be_focused()
    expect(page.locator(".message.human")).to_have_count(1)
    assert console.page_errors == []
