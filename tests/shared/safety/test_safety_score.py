"""Safety score of a chat: its bounds, how it rises and falls, and the steps that follow."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.chats.safety import SafetyScore, SafetyStep
from shared.safety.safety_score import (
    HALF_LIFE,
    LOCK_TIME,
    LOCKED_FROM,
    ORDINARY_HARM,
    add_harm,
    calls_for_review,
    compute_points,
    find_step,
)

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
GRADUAL = [0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.9]
"""A dialogue that begins harmless and asks for more each time."""
ratings = st.floats(0, 1)
points = st.floats(0, 1)
times = st.timedeltas(timedelta(), timedelta(days=30))


def rate(harms: Iterable[float], *, pause: timedelta = timedelta(minutes=1)) -> list[SafetyScore]:
    """Return the score after each question of a chat."""
    scores = [SafetyScore()]
    for number, harm in enumerate(harms):
        scores.append(add_harm(scores[-1], harm, NOW + number * pause))
    return scores[1:]


def list_steps(harms: Iterable[float]) -> list[SafetyStep]:
    return [find_step(score, score.rated_at or NOW) for score in rate(harms)]


def test_a_gradual_dialogue_raises_the_score_and_takes_every_step_m128():
    scores = [score.points for score in rate(GRADUAL)]

    assert scores == sorted(scores)
    assert list(dict.fromkeys(list_steps(GRADUAL))) == ["none", "note", "slow", "review", "locked"]


@given(st.lists(st.floats(0, ORDINARY_HARM), max_size=60))
def test_an_ordinary_chat_reaches_no_step_however_long_m128(harms):
    assert set(list_steps(harms)) <= {"none"}


@pytest.mark.parametrize(
    ("harms", "step"),
    [
        ([], "none"),
        ([0.3], "none"),
        ([0.6], "note"),
        ([1], "slow"),
        ([1, 0, 0, 0, 0, 0], "none"),
        ([1, 1], "review"),
        ([1, 1, 1], "locked"),
    ],
)
def test_steps_by_what_was_asked_m128(harms: list[float], step: SafetyStep):
    assert ["none", *list_steps(harms)][-1] == step


@given(st.lists(st.floats(-5, 5), max_size=30))
def test_a_score_stays_between_0_and_1_m128(harms):
    assert all(0 <= score.points <= 1 for score in rate(harms))


@given(points, ratings, ratings, times)
def test_more_harm_never_gives_a_lower_score_m128(before, one, other, elapsed):
    score = SafetyScore(points=before, rated_at=NOW)
    less, more = sorted([one, other])

    now = NOW + elapsed
    assert add_harm(score, less, now).points <= add_harm(score, more, now).points


@given(points, times, times)
def test_time_only_takes_from_a_score_m128(before, one, other):
    score = SafetyScore(points=before, rated_at=NOW)
    sooner, later = sorted([one, other])

    assert 0 <= compute_points(score, NOW + later) <= compute_points(score, NOW + sooner) <= before


def test_a_score_halves_in_its_half_life_and_never_rises_by_a_clock_behind_m128():
    score = SafetyScore(points=0.8, rated_at=NOW)

    assert compute_points(score, NOW + HALF_LIFE) == pytest.approx(0.4)
    assert compute_points(score, NOW - HALF_LIFE) == 0.8


def test_a_lock_ends_by_itself_and_leaves_little_m129():
    (*_, locked) = rate([1, 1, 1])
    assert locked.rated_at is not None
    end = locked.rated_at + LOCK_TIME

    assert locked.points >= LOCKED_FROM
    assert find_step(locked, end - timedelta(seconds=1)) == "locked"
    assert find_step(locked, end) == "note"


def test_a_harmless_question_does_not_open_a_locked_chat_m129():
    assert list_steps([1, 1, 1, 0, 0, 0])[-1] == "locked"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("none", "note", False),
        ("note", "slow", False),
        ("slow", "review", True),
        ("review", "review", False),
        ("review", "locked", True),
        ("locked", "locked", False),
        ("locked", "note", False),
    ],
)
def test_an_operator_is_told_of_each_new_step_once_m129(
    before: SafetyStep, after: SafetyStep, *, expected: bool
):
    assert calls_for_review(before, after) is expected
