"""Citations in the console: a cited conversation shows the words that an answer rests on."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.web.console import Console

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


def test_an_old_answer_says_what_became_of_what_it_cites_e4(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("corrector")
    console.add_transcript("Ann: Theo is allergic to pecans.")
    source = console.ask("What is Theo allergic to?").locator(".source").first
    source.click()
    expect(console.page.locator("#reader .transcript")).to_contain_text("pecans")
    expect(console.page.locator("#reader")).not_to_contain_text("was changed")
    headers = console.sign_in_beside(context, "corrector")
    conversations = f"{console.origin}/v1/conversations"
    [stored] = context.request.get(conversations, headers=headers).json()
    talk = f"{conversations}/{stored['id']}"
    [segment] = context.request.get(talk, headers=headers).json()["transcript_segments"]

    correction = {"segment_id": segment["id"], "text": "Theo is allergic to plums."}
    assert context.request.patch(f"{talk}/segments/text", data=correction, headers=headers).ok
    console.page.reload()
    source.click()

    hint = "This conversation was changed after the answer was written."
    expect(console.page.locator("#reader")).to_contain_text(hint)
    expect(console.page.locator("#reader .transcript")).to_contain_text("plums")

    assert context.request.delete(talk, headers=headers).ok
    console.page.reload()
    source.click()

    expect(console.page.locator("#reader")).to_contain_text(
        "This conversation was deleted or merged after the answer was written."
    )
    assert console.page_errors == []
