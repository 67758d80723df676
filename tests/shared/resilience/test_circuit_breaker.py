"""Circuit breaker: it opens after failures and closes after a success (C57)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from shared.resilience.circuit_breaker import FAILURE_THRESHOLD, OPEN_FOR, CircuitBreaker

START = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def open_breaker() -> CircuitBreaker:
    breaker = CircuitBreaker()
    for _ in range(FAILURE_THRESHOLD):
        breaker.record_failure(START)
    return breaker


def test_five_failures_in_a_row_open_it_for_thirty_seconds() -> None:
    breaker = open_breaker()

    assert FAILURE_THRESHOLD == 5
    assert timedelta(seconds=30) == OPEN_FOR
    assert not breaker.allow(START)
    assert not breaker.allow(START + OPEN_FOR - timedelta(milliseconds=1))


def test_one_probe_is_allowed_after_the_open_period() -> None:
    breaker = open_breaker()

    assert [breaker.allow(START + OPEN_FOR) for _ in range(3)] == [True, False, False]


def test_a_probe_that_succeeds_closes_it() -> None:
    breaker = open_breaker()
    assert breaker.allow(START + OPEN_FOR)

    breaker.record_success()

    assert all(breaker.allow(START + OPEN_FOR) for _ in range(3))


def test_a_probe_that_fails_opens_it_again() -> None:
    breaker = open_breaker()
    assert breaker.allow(START + OPEN_FOR)

    breaker.record_failure(START + OPEN_FOR)

    assert not breaker.allow(START + 2 * OPEN_FOR - timedelta(milliseconds=1))
    assert breaker.allow(START + 2 * OPEN_FOR)


def test_a_probe_without_a_result_does_not_block_the_next_probe() -> None:
    breaker = open_breaker()
    assert breaker.allow(START + OPEN_FOR)

    assert breaker.allow(START + 2 * OPEN_FOR)


Step = timedelta | bool | None
"""Time passes, a call in flight ends (True: well), or somebody asks to be let through."""
STEPS = st.lists(
    st.one_of(
        st.builds(timedelta, seconds=st.integers(0, 40)),
        st.sampled_from([True, False, False, False, False]),
        st.none(),
    ),
    max_size=80,
)


@given(STEPS)
def test_it_opens_after_five_failures_and_allows_one_probe_per_open_period(
    steps: Sequence[Step],
) -> None:
    breaker, now, failures_in_row, opened_at = CircuitBreaker(), START, 0, START
    for step in steps:
        match step:
            case timedelta():
                now += step
            case True:
                breaker.record_success()
                failures_in_row = 0
            case False:
                breaker.record_failure(now)
                failures_in_row, opened_at = failures_in_row + 1, now
            case None:
                expected = failures_in_row < FAILURE_THRESHOLD or now >= opened_at + OPEN_FOR
                assert breaker.allow(now) == expected
                opened_at = now if expected else opened_at
