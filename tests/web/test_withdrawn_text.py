"""Thoughts that were streamed as text: the console takes them back, and folds them as reasoning (N1)."""

from typing import Any

from playwright.sync_api import Locator, expect

from tests.web.console import Console

THOUGHT = "I should answer 🚆."
CHUNKS: list[dict[str, Any]] = [
    {"type": "text-delta", "id": "text-1", "delta": "Let me look. "},
    {"type": "text-delta", "id": "text-1", "delta": THOUGHT},
    {"type": "data-answer-withdrawn", "data": {"chars": len(THOUGHT)}},
    {"type": "reasoning-start", "id": "reasoning-2"},
    {"type": "reasoning-delta", "id": "reasoning-2", "delta": THOUGHT},
    {"type": "text-delta", "id": "text-3", "delta": "On Friday."},
]
START: dict[str, Any] = {"type": "start", "messageId": "m1"}


def check(column: Locator) -> None:
    expect(column.locator("> .prose")).to_have_text("Let me look. On Friday.")
    column.locator(".steps summary").click()
    expect(column.locator(".steps pre")).to_have_text(THOUGHT)


def test_a_thought_moves_from_the_text_to_the_reasoning_n1(console: Console) -> None:
    console.sign_in("thinker")
    console.answer_with(START, *CHUNKS)

    check(console.start_question("When?").locator(".main"))


def test_an_answer_that_was_a_thought_so_far_shows_no_text_n1(console: Console) -> None:
    console.sign_in("thinker")
    console.answer_with(START, *CHUNKS[1:5])

    answer = console.start_question("When?")

    expect(answer.locator(".steps summary")).to_have_text("Reasoning")
    expect(answer.locator(".prose")).to_be_empty()


def test_an_answer_beside_takes_its_own_thought_back_n1(console: Console) -> None:
    console.sign_in("thinker")
    voices = {"type": "data-voices", "data": {"models": ["large", "small"]}}
    wrapped = [{"type": "data-voice", "data": {"voice": 1, "chunk": chunk}} for chunk in CHUNKS]
    console.answer_with(START, voices, *wrapped)

    check(console.start_question("When?").locator(".voice"))
