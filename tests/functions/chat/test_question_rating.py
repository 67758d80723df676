"""Ratings of questions: nonsense becomes a rating, several become one, and thresholds hold exactly."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.safety.model_outputs import RatingOutput
from functions.chat.safety.question_rating import (
    QuestionRating,
    is_refused,
    merge_ratings,
    read_score,
)
from shared.data.store.codec import type_adapter
from shared.domain.chats.safety import SafetyThresholds

ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())
)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (7, 7.0),
        (6.9, 6.9),
        ("7.5", 7.5),
        (11, 10.0),
        (-3, 0.0),
        (math.nan, 0.0),
        (math.inf, 0.0),
        ("NaN", 0.0),
        ("very", 0.0),
        ("", 0.0),
        (None, 0.0),
        (True, 0.0),
        ([9], 0.0),
        ({"score": 9}, 0.0),
        (10**400, 0.0),
    ],
)
def test_a_score_that_is_none_counts_as_zero_and_others_are_clamped_m93(
    answer: object, score: float
) -> None:
    assert read_score(answer) == score


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
def test_every_answer_becomes_scores_within_bounds_m93(
    harm: Any, misuse: Any, injection: Any, language: Any
) -> None:
    answer = {"harm": harm, "misuse": misuse, "injection": injection, "language": language}

    output = type_adapter(RatingOutput).validate_python(answer)

    assert all(0 <= score <= 10 for score in (output.harm, output.misuse, output.injection))


def test_an_empty_answer_is_harmless_m93() -> None:
    assert QuestionRating(**RatingOutput().model_dump()) == QuestionRating()


@pytest.mark.parametrize(
    ("harm", "misuse", "refused"),
    [(7.0, 0, True), (6.9, 0, False), (0, 8.0, True), (0, 7.9, False), (6.9, 7.9, False)],
)
def test_thresholds_hold_exactly_m97(harm: float, misuse: float, *, refused: bool) -> None:
    rating = QuestionRating(harm=harm, misuse=misuse)

    assert is_refused(rating, SafetyThresholds()) is refused


def test_ratings_of_blocks_merge_to_the_highest_and_the_last_language_m92() -> None:
    merged = merge_ratings(
        [
            QuestionRating(harm=2, misuse=8, language="de"),
            QuestionRating(harm=6, injection=3, language="fr"),
            QuestionRating(harm=1),
        ]
    )

    assert merged == QuestionRating(harm=6, misuse=8, injection=3, language="fr")


def test_nothing_merges_to_a_harmless_rating_m92() -> None:
    assert merge_ratings([]) == QuestionRating()
