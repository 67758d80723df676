"""The time that a question names, in the owner's zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.retrieval.dates import Span, resolve, without
from tests.shared.retrieval.dates.expressions import ENGLISH, NO_TIME, OTHER_TONGUES

BERLIN = ZoneInfo("Europe/Berlin")
LOS_ANGELES = ZoneInfo("America/Los_Angeles")
NOW = datetime(2026, 3, 4, 13, 30, tzinfo=BERLIN)  # a Wednesday
EXPRESSIONS = [row[0] for row in ENGLISH]


def _span(start: str, end: str, zone: ZoneInfo = BERLIN) -> Span:
    return Span(*(datetime.fromisoformat(each).replace(tzinfo=zone) for each in (start, end)))


def _hours(span: Span | None) -> float:
    assert span is not None
    return (span.end.astimezone(UTC) - span.start.astimezone(UTC)) / timedelta(hours=1)


def test_the_table_is_as_long_as_promised_p13():
    assert len(set(EXPRESSIONS)) >= 150
    assert len(set(NO_TIME)) >= 40


@pytest.mark.parametrize(("words", "start", "end"), ENGLISH)
def test_an_expression_names_its_time_p13(words, start, end):
    assert resolve(words, NOW) == _span(start, end)


@pytest.mark.parametrize(("words", "start", "end"), OTHER_TONGUES)
def test_german_french_and_spanish_name_the_same_times_p13(words, start, end):
    assert resolve(words, NOW) == _span(start, end)


@pytest.mark.parametrize("words", NO_TIME)
def test_ordinary_words_name_no_time_p13(words):
    assert resolve(words, NOW) is None


@pytest.mark.parametrize(
    ("words", "now", "start", "end"),
    [
        ("yesterday", "2026-03-04T01:00", "2026-03-03", "2026-03-04"),
        ("on Sunday", "2026-03-01T12:00", "2026-02-22", "2026-02-23"),
        ("last week", "2026-03-01T23:59", "2026-02-16", "2026-02-23"),
        ("over the weekend", "2026-02-28T10:00", "2026-02-28", "2026-03-02"),
        ("on 5/6/2023", "2026-03-04T13:30", "2023-05-06", "2023-05-07"),
        ("on 5.6.2023", "2026-03-04T13:30", "2023-06-05", "2023-06-06"),
        ("last month", "2026-01-31T13:30", "2025-12-01", "2026-01-01"),
        ("this winter", "2026-01-10T13:30", "2025-12-01", "2026-03-01"),
        ("last winter", "2026-01-10T13:30", "2024-12-01", "2025-03-01"),
        ("on 4 March", "2026-03-04T00:00", "2026-03-04", "2026-03-05"),
        ("on 5 March", "2026-03-04T13:30", "2025-03-05", "2025-03-06"),
        ("on the 31st", "2026-03-04T13:30", "2026-01-31", "2026-02-01"),
        ("at Thanksgiving", "2026-11-26T09:00", "2026-11-26", "2026-11-27"),
        ("six hours ago", "2026-03-04T03:00", "2026-03-03T20:00", "2026-03-03T22:00"),
    ],
)
def test_the_owners_clock_and_country_decide_p13(words, now, start, end):
    moment = datetime.fromisoformat(now).replace(tzinfo=LOS_ANGELES)

    assert resolve(words, moment) == _span(start, end, LOS_ANGELES)


@pytest.mark.parametrize(
    ("words", "now", "zone", "hours"),
    [
        ("yesterday", "2026-03-30T09:00", BERLIN, 23),
        ("yesterday", "2026-10-26T09:00", BERLIN, 25),
        ("last week", "2026-04-01T09:00", BERLIN, 7 * 24 - 1),
        ("on Sunday", "2026-03-09T09:00", LOS_ANGELES, 23),
        ("on 1 November", "2026-11-03T09:00", LOS_ANGELES, 25),
        ("last night", "2026-03-29T09:00", BERLIN, 10),
        ("the last 24 hours", "2026-03-29T09:00", BERLIN, 24),
        ("the last 3 hours", "2026-10-25T02:30", BERLIN, 3),
        ("four hours ago", "2026-10-25T05:00", BERLIN, 2),
        ("in two hours", "2026-03-29T01:30", BERLIN, 2),
    ],
)
def test_days_follow_the_clocks_change_and_hours_do_not_p13(words, now, zone, hours):
    assert _hours(resolve(words, datetime.fromisoformat(now).replace(tzinfo=zone))) == hours


def test_hours_are_counted_through_the_hour_that_comes_twice():
    second_time = datetime(2026, 10, 25, 2, 10, tzinfo=BERLIN, fold=1)

    span = resolve("20 minutes ago", second_time)

    assert span is not None
    assert span.start.astimezone(UTC) == datetime(2026, 10, 25, 0, 40, tzinfo=UTC)
    assert _hours(span) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("year", "day"),
    [(2000, "04-23"), (2008, "03-23"), (2011, "04-24"), (2024, "03-31"), (2038, "04-25")],
)
def test_easter_is_found_in_its_year(year, day):
    span = resolve(f"Easter Sunday {year}", NOW)

    assert span is not None
    assert span.start.date().isoformat() == f"{year}-{day}"


@pytest.mark.parametrize("words", ["after tomorrow", "since next week", "before 1970"])
def test_a_time_that_contradicts_itself_is_none(words):
    assert resolve(words, NOW) is None


def test_the_first_of_two_times_counts():
    assert resolve("Did I say last Tuesday what I said in May?", NOW) == resolve("Tuesday", NOW)


def test_a_meeting_of_a_day_names_the_day_itself():
    assert resolve("what was said after yesterday's talk", NOW) == resolve("yesterday", NOW)


def test_the_german_hier_is_a_place():
    assert resolve("Was habe ich hier gesagt?", NOW) is None
    assert resolve("Qu'est-ce que Paul a dit hier ?", NOW) == resolve("yesterday", NOW)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What did Anna decide last Tuesday evening?", "What did Anna decide ?"),
        ("the week before Christmas we argued", "we argued"),
        ("Where is Anna?", "Where is Anna?"),
    ],
)
def test_the_topic_is_what_remains_without_the_time(question, topic):
    assert " ".join(without(question, NOW).split()) == topic


@given(
    words=st.sampled_from(EXPRESSIONS),
    before=st.sampled_from(["What did Anna say ", "so, ", "PAUL MET ANNA ", "¿", "(", "—"]),
    after=st.sampled_from(["?", "", " about the garden?", ", please", " with Anna", "…", "\n"]),
)
def test_the_words_around_an_expression_change_nothing(words, before, after):
    assert resolve(before + words + after, NOW) == resolve(words, NOW)


@given(words=st.sampled_from([row for row in EXPRESSIONS if "'" not in row]))
def test_spaces_and_small_or_capital_letters_of_a_question_change_nothing(words):
    assert resolve(words.replace(" ", "  "), NOW) == resolve(words, NOW)
    assert resolve(f"in the notes {words.upper()}", NOW) == resolve(words, NOW)


_ATOMS = [
    "since",
    "before",
    "between",
    "and",
    "the",
    "last",
    "next",
    "week",
    "of",
    "May",
    "5",
    "99",
]
_ATOMS += ["in", "years", "ago", "first", "Monday", "2020-02-30", "early", "Easter", "2022", "'s"]


@given(
    question=st.text(max_size=60)
    | st.lists(st.sampled_from(_ATOMS + EXPRESSIONS), max_size=12).map(" ".join),
    second=st.integers(631_238_400, 3_786_912_000),  # from 1990 to 2090
    zone=st.sampled_from([BERLIN, LOS_ANGELES, ZoneInfo("Pacific/Apia"), ZoneInfo("UTC")]),
)
def test_every_question_has_a_time_that_passes_or_none(question, second, zone):
    span = resolve(question, datetime.fromtimestamp(second, zone))

    assert span is None or span.start.timestamp() < span.end.timestamp()
    assert span is None or span.start.tzinfo is span.end.tzinfo is zone
