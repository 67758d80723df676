"""Citations in the console: a cited conversation shows the words that an answer rests on."""

import pytest
from playwright.sync_api import Page

SEGMENT_TEXTS = [
    "Is Theo still allergic?",
    "Yes. Walnuts and  pecans are out.",
    "Yes.",
    "See you on Sunday!",
]
CITED_CODE = """
async ([said, passages, answer]) => {
  const { citedSegments } = await import(moduleAt("/citations.js"));
  const segments = said.map((text) => ({ text }));
  const cited = citedSegments(segments, passages, answer);
  return segments.flatMap((segment, at) => (cited.has(segment) ? [at] : []));
}
"""


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("He said: “Walnuts and pecans are out”.", [1]),
        ("Walnuts, he said.", [0, 1, 2]),
        ("", [0, 1, 2]),
    ],
)
def test_quoted_words_are_marked_or_else_the_passage(
    module_page: Page, answer: str, cited: list[int]
) -> None:
    passages = [{"first_segment": 0, "last_segment": 2}]

    assert module_page.evaluate(CITED_CODE, [SEGMENT_TEXTS, passages, answer]) == cited


def test_nothing_is_marked_without_a_passage(module_page: Page) -> None:
    assert module_page.evaluate(CITED_CODE, [SEGMENT_TEXTS, [], SEGMENT_TEXTS[0]]) == []
