"""Highlights: search passages mark the matches, and stay text whatever they hold."""

import pytest
from playwright.sync_api import Page

MARKS_CODE = """
async ([text, query]) => {
  const { highlighted } = await import(moduleAt("/views/highlighted.js"));
  const box = document.createElement("div");
  box.append(...highlighted(text, query));
  return [box.textContent, [...box.querySelectorAll("*")].map((node) => node.outerHTML)];
}
"""


@pytest.mark.parametrize(
    ("text", "query", "marks"),
    [
        ("Two lakes, one Lake house", "lake HOUSE", ["lakes", "Lake", "house"]),
        ("The flakes of the lake", "lake", ["lake"]),
        ("Zürich ist im Frühling schön", "zürich frühling", ["Zürich", "Frühling"]),
        ("Room 7, not 17", "room 7", ["Room", "7"]),
        ("Is it so? (it is.)", "is it? (.*", []),
        ("<img src=x> walnuts", "walnuts <img>", ["img", "walnuts"]),
    ],
)
def test_words_are_marked_at_their_beginning(
    module_page: Page, text: str, query: str, marks: list[str]
) -> None:
    text_content, marked = module_page.evaluate(MARKS_CODE, [text, query])

    assert text_content == text
    assert marked == [f"<mark>{mark}</mark>" for mark in marks]
