"""Projects in the console: made, filled with files and chats, renamed and deleted (X12)."""

from playwright.sync_api import APIResponse, FilePayload, Locator, Route, expect

from tests.web.console import Console

KEEL = FilePayload(name="keel.txt", mimeType="text/plain", buffer=b"The keel is of oak.")
BROKEN = FilePayload(name="broken.pdf", mimeType="application/pdf", buffer=b"%PDF-1.7 nothing")


def open_projects(console: Console) -> Locator:
    """Open the part of the chats that has the projects."""
    console.show_view("chats")
    projects = console.page.locator("#projects")
    if projects.get_attribute("open") is None:
        projects.locator("summary").first.click()
    expect(projects.get_by_label("A new project")).to_be_visible()
    return projects


def add_project(console: Console, name: str) -> Locator:
    """Return the opened row of a new project."""
    projects = open_projects(console)
    projects.get_by_label("A new project").fill(name)
    console.page.keyboard.press("Enter")
    row = find_project(console, name)
    expect(row.get_by_role("button", name="New chat in this project")).to_be_visible()
    return row


def find_project(console: Console, name: str) -> Locator:
    return console.page.locator("#projects .rows > li").filter(has_text=name)


def test_the_files_of_a_project_are_added_taken_out_and_deleted_x12(console: Console) -> None:
    console.sign_in("shipwright")
    row = add_project(console, "Boat")
    row.get_by_label("Add files").set_input_files([KEEL, BROKEN])
    files = row.locator(".items").first.locator("li")
    expect(files).to_contain_text(["keel.txt", "broken.pdf"])
    expect(files.nth(1).locator(".problem")).not_to_be_empty()

    row.get_by_role("button", name="Take keel.txt out of the project").press("Enter")
    expect(files).to_have_count(1)
    row.get_by_role("button", name="Delete broken.pdf").press("Enter")
    expect(files).to_have_count(0)
    known = row.get_by_label("Add a file that you gave before")
    known.select_option("keel.txt")
    expect(files).to_contain_text(["keel.txt"])
    expect(known).to_be_hidden()
    assert console.page_errors == []


def test_a_list_that_arrives_late_does_not_bring_a_file_back_x12(console: Console) -> None:
    console.sign_in("shipwright2")
    row = add_project(console, "Boat")
    row.get_by_label("Add files").set_input_files([KEEL, BROKEN])
    files = row.locator(".items").first.locator("li")
    expect(files.nth(1).locator(".problem")).not_to_be_empty()
    held: list[Route] = []
    late: list[tuple[Route, APIResponse]] = []

    def hold_first(route: Route) -> None:
        if route.request.method == "GET" and not held:
            held.append(route)  # the next one may come while this one is fetched
            late.append((route, route.fetch()))
        else:
            route.continue_()

    console.page.route("**/v2/projects/*/files", hold_first)
    with console.page.expect_request("**/v2/projects/*/files"):
        row.get_by_role("button", name="Take keel.txt out of the project").press("Enter")
    row.get_by_role("button", name="Delete broken.pdf").press("Enter")
    expect(files).to_have_count(0)

    [(route, response)] = late
    with console.page.expect_response("**/v2/projects/*/files"):
        route.fulfill(response=response)
    console.page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(files).to_have_count(0)


def test_chats_begin_in_a_project_join_and_leave_it_x12(console: Console) -> None:
    console.sign_in("shipmate")
    console.ask("What about tulips?")
    row = add_project(console, "Boat")
    chats = row.locator(".items").nth(1).locator("li")
    row.get_by_label("Move a chat here").select_option(index=1)
    expect(chats).to_have_count(1)
    with console.page.expect_request(lambda request: request.method == "POST") as begun:
        row.get_by_role("button", name="New chat in this project").click()
    assert "project_id" in (begun.value.post_data_json or {})
    expect(console.page.get_by_label("Your question")).to_be_focused()
    expect(console.answers).to_have_count(1)
    console.ask("What about ferries?")

    open_projects(console)
    row.get_by_role("button", name="Boat", exact=True).click()
    row.get_by_role("button", name="Boat", exact=True).click()
    expect(chats).to_have_count(2)
    chats.nth(1).locator(".tools button").press("Enter")
    expect(chats).to_have_count(1)
    chats.get_by_role("button").first.click()
    expect(console.page.locator(".message.human")).to_have_text("What about ferries?")
    assert console.page_errors == []


def test_a_project_is_renamed_and_deleted_and_its_chats_stay_x12(console: Console) -> None:
    console.sign_in("renamer")
    console.ask("What about tulips?")
    row = add_project(console, "Boat")
    row.get_by_label("Move a chat here").select_option(index=1)
    row.get_by_role("button", name="Rename Boat").click()
    console.page.get_by_label("Name", exact=True).fill("Yacht")
    console.page.keyboard.press("Enter")
    expect(find_project(console, "Yacht").get_by_role("button").first).to_be_focused()

    find_project(console, "Yacht").get_by_role("button", name="Delete Yacht").press("Enter")
    expect(console.page.locator("#projects .empty")).to_have_text("No projects yet.")
    expect(console.page.locator("#chat-list li")).to_have_count(1)
    assert console.page_errors == []
