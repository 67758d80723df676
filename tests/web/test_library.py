"""The library in the console: found, read, changed, taken along and erased by its owner."""

import zipfile

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.web.console import Console

pytestmark = pytest.mark.browser

TRANSCRIPT = """Me: I am allergic to walnuts and pecans.
SPEAKER_01: Then I will bake the lemon cake with almonds.
Me: I need to book the ferry by Friday."""


def show(page: Page, view: str) -> None:
    page.locator(f"#views [data-to={view}]").click()


def rows(page: Page, view: str) -> Locator:
    return page.locator(f"#{view} .rows > li")


def test_p4_a_search_marks_what_was_looked_for(console: Console) -> None:
    console.sign_in("seeker")
    console.keep(TRANSCRIPT)

    console.page.get_by_label("Search your library").fill("lemon cake")
    console.page.keyboard.press("Enter")

    hit = console.page.locator("#hits .card")
    expect(hit.locator("mark").first).to_have_text("lemon")
    expect(console.page.locator("#conversations")).to_be_hidden()
    hit.click()
    cited = console.page.locator("#reader .cited")
    expect(cited.filter(has_text="lemon cake")).to_be_visible()

    console.page.get_by_label("Search your library").fill("")
    console.page.get_by_label("Search your library").press("Enter")
    expect(console.page.locator("#conversations .card")).to_be_visible()


def test_p30_a_conversation_is_renamed_starred_and_deleted(console: Console) -> None:
    console.sign_in("editor")
    card = console.keep(TRANSCRIPT)
    card.click()
    page, reader = console.page, console.page.locator("#reader")

    page.get_by_role("button", name="Rename this conversation").click()
    reader.get_by_label("Title").fill("Nuts and cake")
    page.keyboard.press("Enter")
    expect(reader.get_by_role("heading", level=2)).to_contain_text("Nuts and cake")
    expect(page.locator("#conversations .title")).to_have_text("Nuts and cake")

    star = page.get_by_role("button", name="Star this conversation")
    star.click()
    expect(star).to_have_attribute("aria-pressed", "true")

    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete this conversation").click()
    expect(reader).to_be_hidden()
    expect(page.locator("#conversations .card")).to_have_count(0)
    assert console.complaints == []


def test_p33_a_speaker_is_named_and_renamed(console: Console) -> None:
    console.sign_in("introducer")
    card = console.keep(TRANSCRIPT)
    card.click()
    page, speakers = console.page, console.page.locator("#reader .speaker")

    page.get_by_role("button", name="Speaker 2").click()
    page.get_by_label("Who is Speaker 2?").fill("Nora")
    page.keyboard.press("Enter")
    expect(speakers.nth(1)).to_have_text("Nora")

    show(page, "people")
    page.get_by_role("button", name="Rename Nora").click()
    page.get_by_label("Name", exact=True).fill("Nora Weber")
    page.keyboard.press("Enter")
    expect(rows(page, "people").locator(".content")).to_have_text("Nora Weber")
    show(page, "library")
    card.click()
    expect(speakers.nth(1)).to_have_text("Nora Weber")


def test_p14_memories_show_their_ground_and_are_changed(console: Console) -> None:
    console.sign_in("rememberer")
    console.keep(TRANSCRIPT)
    page = console.page
    show(page, "memories")
    page.get_by_label("A new memory").fill("The spare key is with the bakery.")
    page.keyboard.press("Enter")

    own = rows(page, "memories").filter(has_text="spare key")
    own.get_by_role("button", name="Edit").click()
    page.get_by_label("Memory", exact=True).fill("The spare key is with Nora.")
    page.keyboard.press("Enter")
    expect(rows(page, "memories").filter(has_text="with Nora")).to_contain_text("edited")

    said = rows(page, "memories").filter(has_text="allergic")
    said.get_by_text("Why, and what before").click()
    expect(said.locator("blockquote")).to_contain_text("allergic to walnuts")
    said.get_by_role("button", name="Open the conversation").click()
    expect(page.locator("#reader .cited")).to_contain_text("allergic to walnuts")

    page.on("dialog", lambda dialog: dialog.accept())
    said.get_by_role("button", name="Delete").click()
    expect(said).to_have_count(0)
    assert console.complaints == []


def test_p5_tasks_are_added_completed_and_deleted(console: Console) -> None:
    console.sign_in("doer")
    page = console.page
    show(page, "tasks")
    page.get_by_label("A new task").fill("Water the tulips")
    page.get_by_label("Due").fill("2030-05-01")
    page.get_by_role("button", name="Add", exact=True).click()

    task = rows(page, "tasks").filter(has_text="Water the tulips")
    expect(task).to_contain_text("due Wed, 1 May 2030")
    task.get_by_role("checkbox").check()
    page.reload()
    show(page, "tasks")
    expect(task.get_by_role("checkbox")).to_be_checked()

    task.get_by_role("button", name="Delete").click()
    expect(task).to_have_count(0)


def test_p30_everything_is_taken_along_and_then_erased(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("leaver2")
    console.keep(TRANSCRIPT)
    page = console.page
    page.get_by_role("button", name="leaver2").click()

    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    with zipfile.ZipFile(download.value.path()) as taken:
        assert any("lemon cake" in taken.read(name).decode() for name in taken.namelist())

    page.get_by_label("Type your name to confirm").fill("somebody")
    page.get_by_role("button", name="Erase everything").click()
    expect(console.problem).to_have_text("Type leaver2 to confirm.")
    page.get_by_label("Type your name to confirm").fill("leaver2")
    page.get_by_role("button", name="Erase everything").click()

    expect(page.get_by_label("Who are you?")).to_be_visible()
    owner = console.owner(context, "leaver2")
    kept = context.request.get(f"{console.origin}/v1/conversations", headers=owner).json()
    assert kept["conversations"] == []


def test_p30_the_timeline_shows_each_day_with_what_was_said_and_is_due(console: Console) -> None:
    console.sign_in("chronicler")
    page = console.page
    page.get_by_label("Transcript", exact=True).fill(TRANSCRIPT)
    page.get_by_label("When", exact=True).fill("2024-03-05T09:30")
    console.keep(TRANSCRIPT)
    title = page.locator("#conversations .title").inner_text()
    show(page, "tasks")
    page.get_by_label("A new task").fill("Water the tulips")
    page.get_by_label("Due").fill("2030-05-01")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(rows(page, "tasks").filter(has_text="Water the tulips")).to_be_visible()

    show(page, "timeline")

    days = page.locator("#timeline .days > li")
    expect(days.first.get_by_role("heading")).to_have_text("Wed, 1 May 2030")
    expect(days.first).to_contain_text("Water the tulips")
    said = days.filter(has_text="5 Mar 2024").get_by_role("button", name=title).first
    expect(page.locator("#timeline").get_by_text("09:30")).not_to_have_count(0)
    said.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#reader .transcript")).to_contain_text("lemon cake")
    assert console.complaints == []


def test_p30_the_timeline_loads_older_days_on_demand(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("archivist")
    owner = console.owner(context, "archivist")
    for number in range(1, 61):
        due = f"2031-{1 + number // 28:02}-{1 + number % 28:02}T12:00:00Z"
        task = {"description": f"Task {number}", "due_at": due}
        context.request.post(f"{console.origin}/v1/action-items", headers=owner, data=task)
    page = console.page
    show(page, "timeline")
    entries = page.locator("#timeline .days ul > li")
    expect(entries).to_have_count(50)

    page.locator("#timeline .more").click()

    expect(entries).to_have_count(60)
    expect(page.locator("#timeline .more")).to_be_hidden()
    assert console.complaints == []
