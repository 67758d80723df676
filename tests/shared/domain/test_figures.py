"""Periods of the figures: what divides them leaves nothing out and nothing twice (P25)."""

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations.figures import PeriodName, split_period

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"]
)
PERIODS = st.sampled_from(["today", "monthly", "yearly", "all_time"])
TIMES = st.datetimes(
    datetime(2000, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    datetime(2040, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)


@given(PERIODS, TIMES, ZONES.map(ZoneInfo))
def test_spans_follow_each_other_and_end_now_p25(
    period: PeriodName, now: datetime, zone: ZoneInfo
) -> None:
    spans = split_period(period, now, zone)

    assert all(sooner.end == later.begin for sooner, later in pairwise(spans))
    assert all(span.begin < span.end for span in spans)
    assert not spans or spans[-1].end == now


@given(st.sampled_from(["today", "monthly", "yearly"]), TIMES, ZONES.map(ZoneInfo))
def test_a_period_begins_with_the_owners_day_month_or_year_p25(
    period: PeriodName, now: datetime, zone: ZoneInfo
) -> None:
    starts = {"today": {}, "monthly": {"day": 1}, "yearly": {"day": 1, "month": 1}}
    first_day = now.astimezone(zone).date().replace(**starts[period])

    spans = split_period(period, now, zone)

    assert [span.begin.astimezone(zone).date() for span in spans[:1]] == [first_day][: len(spans)]


@pytest.mark.parametrize(
    ("day", "hours"),
    [((2026, 3, 29), 23), ((2026, 10, 25), 25), ((2026, 6, 1), 24)],
    ids=["spring", "autumn", "summer"],
)
def test_a_day_on_which_clocks_change_has_another_hour_p25(
    day: tuple[int, int, int], hours: int
) -> None:
    night = datetime(*day, 23, 59, 59, tzinfo=BERLIN).astimezone(UTC)

    assert len(split_period("today", night, BERLIN)) == hours


def test_spans_are_named_by_their_local_beginning_p25() -> None:
    now = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)

    names = {
        period: [span.name for span in split_period(period, now, BERLIN)]
        for period in ("today", "monthly", "yearly")
    }

    assert names == {
        "today": ["2026-03-03T00:00:00"],
        "monthly": ["2026-03-01", "2026-03-02", "2026-03-03"],
        "yearly": ["2026-01-01", "2026-02-01", "2026-03-01"],
    }
