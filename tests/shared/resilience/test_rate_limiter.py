"""Rate limiter: so many in a period, at once or spread."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from shared.resilience.rate_limiter import RateLimiter

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NONE = timedelta(0)


def test_a_full_burst_is_admitted_and_then_one_call_per_interval():
    rate = RateLimiter(3, MINUTE)

    assert [rate.acquire(NOON) for _ in range(4)] == [NONE, NONE, NONE, timedelta(seconds=20)]
    assert rate.acquire(NOON + timedelta(seconds=19)) == timedelta(seconds=1)
    assert rate.acquire(NOON + timedelta(seconds=20)) == NONE


def test_a_full_burst_is_available_again_after_a_pause():
    rate = RateLimiter(3, MINUTE)
    rate.acquire(NOON)

    later = NOON + timedelta(hours=1)

    assert [rate.acquire(later) == NONE for _ in range(4)] == [True, True, True, False]


@given(st.lists(st.integers(0, 5_000), max_size=200), st.integers(1, 20))
def test_no_minute_admits_more_than_twice_the_limit_and_a_call_is_admitted_after_its_wait(
    pauses_ms: list[int], limit: int
):
    rate, now, admission_times = RateLimiter(limit, MINUTE), NOON, []
    for pause_ms in pauses_ms:
        now += timedelta(milliseconds=pause_ms)
        if wait := rate.acquire(now):
            now += wait
            assert rate.acquire(now) == NONE
        admission_times.append(now)

    for first in admission_times:
        assert sum(first <= at < first + MINUTE for at in admission_times) <= 2 * limit
