"""The border between the lists and the chat: moved by keys and by dragging, and where it was after a reload."""

from playwright.sync_api import Page, expect

from tests.web.console import Console


def measure_list(page: Page) -> float:
    width: float = page.locator("#library").evaluate("(list) => list.getBoundingClientRect().width")
    return width


def test_the_list_is_as_wide_as_its_reader_made_it_u7(console: Console) -> None:
    page = console.page
    page.set_viewport_size({"width": 1280, "height": 800})
    console.sign_in("wide-reader")
    divider = page.get_by_role("separator", name="Width of the list")
    before = measure_list(page)

    divider.press("ArrowRight")
    assert measure_list(page) == before + 24
    box = divider.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 4, 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 104, 300)
    page.mouse.up()
    assert measure_list(page) == before + 124
    page.reload()
    expect(divider).to_have_attribute("aria-valuenow", str(round(before + 124)))
    assert measure_list(page) == before + 124

    page.mouse.move(600, 300)
    divider.dblclick()
    assert measure_list(page) == before
    for _ in range(20):
        divider.press("ArrowRight")
    assert measure_list(page) == 640
