"""Readings of questions: nonsense becomes a score, several parts become one, and thresholds hold exactly."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.data.store.codec import type_adapter
from shared.domain.chats.safety import SafetyThresholds
from shared.reading.reading import Reading, asks_for_harm, merge_readings, read_score
from shared.reading.reading_output import ReadingOutput

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
    answer = {
        "danger": 0,
        "harm": harm,
        "misuse": misuse,
        "injection": injection,
        "language": language,
    }

    output = type_adapter(ReadingOutput).validate_python(answer)

    assert all(0 <= score <= 10 for score in (output.harm, output.misuse, output.injection))


@pytest.mark.parametrize(
    ("harm", "misuse", "refused"),
    [(7.0, 0, True), (6.9, 0, False), (0, 8.0, True), (0, 7.9, False), (6.9, 7.9, False)],
)
def test_thresholds_hold_exactly_m97(harm: float, misuse: float, *, refused: bool) -> None:
    reading = Reading(harm=harm, misuse=misuse, harm_quote="is it done")

    assert asks_for_harm(reading, "How is it done?", SafetyThresholds()) is refused


def test_a_refusal_needs_words_of_the_question_m97() -> None:
    reading = Reading(harm=10, harm_quote="build a bomb")

    assert not asks_for_harm(reading, "How is it done?", SafetyThresholds())


def test_readings_of_parts_merge_to_the_gravest_with_its_words_m92() -> None:
    merged = merge_readings(
        [
            Reading(danger=2, quote="a", harm=2, misuse=8, harm_quote="b", language="de"),
            Reading(danger=1, quote="c", harm=6, injection=3, language="fr"),
            Reading(place="in Lyon", country="FR"),
        ]
    )

    assert merged == Reading(
        danger=2,
        quote="a",
        harm=2,
        misuse=8,
        harm_quote="b",
        injection=3,
        place="in Lyon",
        country="FR",
        language="fr",
    )


@pytest.mark.parametrize("quotes", [("a", "b"), ("b", "a")])
def test_self_harm_in_any_of_the_gravest_parts_counts_m92(quotes: tuple[str, str]) -> None:
    ill, own = quotes
    readings = [
        Reading(danger=3, is_self_harm=False, quote=ill),
        Reading(danger=3, quote=own),
        Reading(danger=1),
    ]

    assert merge_readings(readings).is_self_harm
    assert not merge_readings([readings[0], readings[2]]).is_self_harm
