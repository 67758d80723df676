"""Hour windows of limits (T14)."""

from datetime import UTC, datetime

import pytest

from shared.resilience.hour_windows import count_seconds_left, floor_to_hour


@pytest.mark.parametrize(
    ("now", "left"),
    [
        (datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC), 3600),
        (datetime(2026, 3, 2, 12, 0, 0, 1, tzinfo=UTC), 3600),
        (datetime(2026, 3, 2, 12, 59, 59, tzinfo=UTC), 1),
        (datetime(2026, 3, 2, 12, 59, 59, 999_999, tzinfo=UTC), 1),
        (datetime(2026, 3, 2, 23, 30, 0, tzinfo=UTC), 1800),
    ],
)
def test_seconds_are_counted_to_the_top_of_the_hour_and_never_to_zero(now: datetime, left: int):
    assert count_seconds_left(now) == left


def test_an_hour_begins_at_its_minute_zero():
    assert floor_to_hour(datetime(2026, 3, 2, 12, 59, 59, 9, tzinfo=UTC)) == datetime(
        2026, 3, 2, 12, tzinfo=UTC
    )
