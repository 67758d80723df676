"""Answers of the offline model over our small library, by words: with the encoder they are better (P2, U4)."""

import pytest

from infra.eval.offline_answers import measure


@pytest.mark.parametrize(("name", "right"), [("questions", 51), ("unseen", 35)])
async def test_most_plain_questions_are_answered_and_requests_followed(
    name: str, right: int
) -> None:
    answered = await measure(name, by_words=True)

    wrong = [(each.question["ask"], each.faults) for each in answered if each.faults]
    assert len(answered) - len(wrong) >= right, wrong
