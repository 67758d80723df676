"""Goals in the console: set, followed, edited, finished and brought back."""

from playwright.sync_api import Locator, expect

from tests.web.console import Console


def add_goal(console: Console, title: str, target: str = "", unit: str = "") -> Locator:
    """Return the row of a new goal."""
    console.page.get_by_label("A new goal").fill(title)
    console.page.get_by_label("Target").fill(target)
    console.page.get_by_label("Unit").fill(unit)
    console.page.keyboard.press("Enter")
    return console.page.locator("#goals .rows > li").filter(has_text=title)


def test_a_goal_is_set_followed_and_edited_u7(console: Console) -> None:
    console.sign_in("goal-setter")
    page = console.page
    console.show_view("goals")
    expect(page.locator("#goals .empty")).to_be_visible()

    goal = add_goal(console, "Read more", "12", "books")
    expect(goal).to_contain_text("of 12 books")
    goal.get_by_label("How far: Read more").fill("3")
    page.keyboard.press("Enter")
    expect(goal.locator("meter")).to_have_attribute("value", "3")
    expect(goal.get_by_label("How far: Read more")).to_be_focused()

    goal.get_by_role("button", name="Edit: Read more").press("Enter")
    page.locator("#goals .edit input").nth(1).fill("15")
    page.keyboard.press("Enter")
    expect(goal).to_contain_text("of 15 books")
    page.reload()
    expect(goal.locator("meter")).to_have_attribute("max", "15")
    assert console.page_errors == []


def test_a_finished_goal_leaves_the_list_and_can_come_back_u7(console: Console) -> None:
    console.sign_in("goal-finisher")
    page = console.page
    console.show_view("goals")
    goal = add_goal(console, "Learn to swim")
    expect(goal).to_contain_text("of 1")

    goal.get_by_role("button", name="Finish").press("Enter")
    expect(goal).to_have_count(0)
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_focused()
    undo.press("Enter")
    expect(goal).to_be_focused()

    goal.get_by_role("button", name="Delete").press("Enter")
    expect(goal).to_have_count(0)
    assert console.page_errors == []


def test_a_fifth_goal_says_which_one_ends(console: Console) -> None:
    console.sign_in("goal-collector")
    console.show_view("goals")
    for title in ("One", "Two", "Three", "Four"):
        expect(add_goal(console, title)).to_be_visible()
    expect(console.page.locator("#goals .full")).to_be_visible()
    titles = console.page.locator("#goals .rows > li > .content")

    expect(add_goal(console, "Five")).to_be_visible()
    expect(console.page.locator("#undo")).to_contain_text("Finished: One")
    expect(titles).to_have_text(["Five", "Four", "Three", "Two"])

    console.page.get_by_role("button", name="Undo").click()
    expect(titles).to_have_text(["One", "Four", "Three", "Two"])
