"""Whatever their owner changes and wherever they travel, days are summarised once, none is lost (R6)."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.daily_summary import DailySummarySettings, find_bounds, find_day
from tests.fixtures.days import RecapModel, build_days_fixture
from tests.fixtures.storage import MemoryDatabase

ZONES = (
    "UTC", "Europe/Lisbon", "America/Los_Angeles", "Asia/Tokyo", "Pacific/Kiritimati",
    "Pacific/Pago_Pago", "Asia/Kathmandu", "America/Santiago", "America/Havana", "Australia/Lord_Howe",
)  # fmt: skip
zones = st.sampled_from(ZONES)
hours = st.integers(0, 23)
instants = st.integers(0, 7 * 366 * 24 * 60).map(
    lambda minutes: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)
"""Every change of clocks of seven years lies between these."""
changes = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.integers(1, 1_500)),
        st.tuples(st.just("talk"), st.just(0)),
        st.tuples(st.just("travel"), zones),
        st.tuples(st.just("hour"), hours),
    ),
    max_size=12,
)


@given(instant=instants, zone=zones)
def test_every_instant_lies_in_its_local_day_r6(instant, zone):
    day = find_day(instant, ZoneInfo(zone))

    start, end = find_bounds(day, ZoneInfo(zone))

    assert start <= instant < end


@given(day=st.dates(date(2020, 1, 1), date(2027, 1, 1)), zone=zones)
def test_local_days_follow_one_another_without_a_gap_r6(day, zone):
    _, end = find_bounds(day, ZoneInfo(zone))

    assert find_bounds(day + timedelta(1), ZoneInfo(zone))[0] == end


@given(day=st.dates(date(2020, 1, 1), date(2027, 1, 1)), zone=zones, hour=hours)
def test_a_summary_is_due_at_its_hour_or_right_after_a_skipped_one_r6(day, zone, hour):
    due = DailySummarySettings(hour=hour).find_due(day, ZoneInfo(zone)).astimezone(ZoneInfo(zone))

    assert due.date() == (day if hour >= 12 else day + timedelta(1))
    assert due.hour in (hour, hour + 1)


@pytest.mark.parametrize(
    ("zone", "first"),
    [
        ("Europe/Lisbon", date(2026, 3, 28)),
        ("Europe/Lisbon", date(2026, 10, 24)),
        ("America/Santiago", date(2026, 9, 5)),
        ("America/Havana", date(2026, 10, 31)),
        ("Australia/Lord_Howe", date(2026, 4, 4)),
    ],
)
@pytest.mark.parametrize("hour", [0, 2, 12, 22, 23])
async def test_over_a_change_of_clocks_each_day_has_its_summary_r6(database, zone, first, hour):
    start = find_bounds(first, ZoneInfo(zone))[0]
    days = build_days_fixture(database, RecapModel(), start)
    await days.change_profile(time_zone=zone)
    await days.change_settings(hour=hour)
    for number in range(12):
        await days.play_until(start + timedelta(hours=6 * number + 1))
        await days.add_conversation(f"talk{number}")

    await days.play(days=3)

    expected = [(first + timedelta(n)).isoformat() for n in range(3)]
    assert sorted(await days.list_scheduled()) == expected
    assert len(days.pushed_ids) == 3


@given(start=instants, zone=zones, hour=hours, steps=changes, copies=st.integers(1, 2))
def test_whatever_happens_no_day_is_told_twice_and_no_conversation_is_left_out_r6(
    start, zone, hour, steps, copies
):
    asyncio.run(check_days(start, zone, hour, steps, copies))


async def check_days(
    start: datetime, zone: str, hour: int, steps: Sequence[tuple[str, Any]], copies: int
) -> None:
    with closing(MemoryDatabase()) as database:
        days = build_days_fixture(database, RecapModel(), start)
        days.copies = copies
        await days.change_profile(time_zone=zone)
        await days.change_settings(hour=hour)
        used_zones: set[str] = {zone}
        talks: list[Conversation] = []
        for kind, how in steps:
            if kind == "wait":
                await days.play(minutes=how)
            elif kind == "talk":
                talks.append(await days.add_conversation(f"talk{len(talks)}"))
            elif kind == "travel":
                used_zones.add(how)
                await days.change_profile(time_zone=how)
            else:
                await days.change_settings(hour=how)
        await days.play(days=4)

        summaries = await days.list_scheduled()
        assert sorted(days.pushed_ids) == sorted(f"daily-summary-{day}" for day in summaries)
        for talk in talks:
            local_days = {find_day(talk.started_at, ZoneInfo(name)) for name in used_zones}
            assert {day.isoformat() for day in local_days} & summaries.keys(), talk.started_at
