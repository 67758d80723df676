"""Spans of the offline model: the days that a question names."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.offline.calendar import find_span

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 4, 13, 30, tzinfo=BERLIN)  # a Wednesday


@pytest.mark.parametrize(
    ("phrase", "first", "last"),
    [
        ("today", (3, 4), (3, 4)),
        ("this week", (3, 2), (3, 8)),
        ("last week", (2, 23), (3, 1)),
        ("last weekend", (2, 28), (3, 1)),
        ("on Monday", (3, 2), (3, 2)),
        ("last Wednesday", (2, 25), (2, 25)),
        ("the last 3 days", (3, 2), (3, 4)),
        ("this month", (3, 1), (3, 31)),
        ("last month", (2, 1), (2, 28)),
        ("in February", (2, 1), (2, 28)),
    ],
)
def test_a_phrase_names_whole_days_that_have_begun(phrase, first, last):
    span = find_span(f"What did Ann say {phrase}?", NOW, is_past=True)

    assert span is not None
    assert (span.start.date(), span.end.date()) == (
        date(2026, *first),
        date(2026, *last) + timedelta(1),
    )


def test_a_month_that_has_not_begun_is_last_years():
    span = find_span("What happened in December?", NOW, is_past=True)

    assert span is not None
    assert span.start.date() == date(2025, 12, 1)


@pytest.mark.parametrize("question", ["What did Ann say?", "Who is May?", "the last train"])
def test_a_question_without_days_names_none(question):
    assert find_span(question, NOW, is_past=True) is None


@given(
    now=st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1)),  # noqa: DTZ001 - hypothesis asks for it
    phrase=st.sampled_from(
        ["today", "yesterday", "last month", "on Friday", "in May", "last 9 days"]
    ),
)
def test_past_days_have_begun(now, phrase):
    here = now.replace(tzinfo=BERLIN)
    span = find_span(phrase, here, is_past=True)

    assert span is not None
    assert span.start < span.end
    assert span.start <= here


def test_coming_days_are_those_of_the_owner():
    span = find_span("What is due tomorrow?", NOW, is_past=False)

    assert span is not None
    assert span.start.isoformat() == "2026-03-05T00:00:00+01:00"
