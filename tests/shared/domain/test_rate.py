"""So many in so long, whenever they come."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.rate import Rate

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NONE = timedelta(0)


def test_a_burst_is_admitted_whole_and_the_next_one_when_it_has_come_back():
    rate = Rate(3, MINUTE)

    assert [rate.take(NOON) for _ in range(4)] == [NONE, NONE, NONE, timedelta(seconds=20)]
    assert rate.take(NOON + timedelta(seconds=19)) == timedelta(seconds=1)
    assert rate.take(NOON + timedelta(seconds=20)) == NONE


def test_after_a_pause_there_is_room_for_a_burst_and_no_more():
    rate = Rate(3, MINUTE)
    rate.take(NOON)

    later = NOON + timedelta(hours=1)

    assert [rate.take(later) == NONE for _ in range(4)] == [True, True, True, False]


@given(st.lists(st.integers(0, 5_000), max_size=200), st.integers(1, 20))
def test_no_minute_admits_more_than_twice_the_limit_and_whoever_waits_is_admitted(
    pauses_ms: list[int], limit: int
):
    rate, now, admitted = Rate(limit, MINUTE), NOON, []
    for pause_ms in pauses_ms:
        now += timedelta(milliseconds=pause_ms)
        if wait := rate.take(now):
            now += wait
            assert rate.take(now) == NONE
        admitted.append(now)

    for first in admitted:
        assert sum(first <= at < first + MINUTE for at in admitted) <= 2 * limit
