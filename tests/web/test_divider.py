"""The borders between the columns: moved by keys and by dragging, and where they were after a reload."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.console import Console

TALK = "Ann: The tulips by the gate need water twice a week in summer."


def measure(page: Page, column: str) -> float:
    width: float = page.locator(column).evaluate("(node) => node.getBoundingClientRect().width")
    return width


def drag(page: Page, divider: Locator, by: int) -> None:
    box = divider.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 4, 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 4 + by, 300)
    page.mouse.up()


@pytest.mark.parametrize(
    ("name", "column", "direction", "widest"),
    [("list", "#library", 1, 384), ("conversation", "#reader", -1, 435)],
)
def test_a_column_is_as_wide_as_its_reader_made_it_u7(
    console: Console, name: str, column: str, direction: int, widest: int
) -> None:
    page = console.page
    page.set_viewport_size({"width": 1280, "height": 800})
    console.sign_in(console.uid)
    console.add_transcript(TALK).click()
    divider = page.get_by_role("separator", name=f"Width of the {name}")
    before = measure(page, column)

    divider.press("ArrowRight" if direction > 0 else "ArrowLeft")
    assert measure(page, column) == before + 24
    drag(page, divider, direction * 20)
    assert measure(page, column) == before + 44
    page.reload()
    expect(divider).to_have_attribute("aria-valuenow", str(round(before + 44)))
    assert measure(page, column) == before + 44

    drag(page, divider, direction * 600)
    assert round(measure(page, column)) == widest
    assert measure(page, "#chat") >= 320
    divider.dblclick()
    assert measure(page, column) == before


def test_a_list_beside_the_chat_alone_takes_half_of_the_window_u7(console: Console) -> None:
    page = console.page
    page.set_viewport_size({"width": 1280, "height": 800})
    console.sign_in(console.uid)

    drag(page, page.get_by_role("separator", name="Width of the list"), 600)

    assert measure(page, "#library") == 640
    expect(page.get_by_role("separator", name="Width of the conversation")).to_be_hidden()
