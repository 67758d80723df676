"""A breaker leaves a failing service alone (C57)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.breaker import FAILURES, REST, Breaker

START = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def opened() -> Breaker:
    breaker = Breaker()
    for _ in range(FAILURES):
        breaker.failed(START)
    return breaker


def test_five_failures_in_a_row_open_it_for_thirty_seconds() -> None:
    breaker = opened()

    assert FAILURES == 5
    assert timedelta(seconds=30) == REST
    assert not breaker.admits(START)
    assert not breaker.admits(START + REST - timedelta(milliseconds=1))


def test_one_probe_goes_out_after_the_rest() -> None:
    breaker = opened()

    assert [breaker.admits(START + REST) for _ in range(3)] == [True, False, False]


def test_a_probe_that_succeeds_closes_it() -> None:
    breaker = opened()
    assert breaker.admits(START + REST)

    breaker.succeeded()

    assert all(breaker.admits(START + REST) for _ in range(3))


def test_a_probe_that_fails_opens_it_again() -> None:
    breaker = opened()
    assert breaker.admits(START + REST)

    breaker.failed(START + REST)

    assert not breaker.admits(START + 2 * REST - timedelta(milliseconds=1))
    assert breaker.admits(START + 2 * REST)


def test_a_probe_that_is_never_heard_of_again_does_not_keep_it_open() -> None:
    breaker = opened()
    assert breaker.admits(START + REST)

    assert breaker.admits(START + 2 * REST)


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
def test_whatever_happens_it_is_open_after_five_failures_and_lets_out_one_probe_a_rest(
    steps: Sequence[Step],
) -> None:
    breaker, now, row, last = Breaker(), START, 0, START
    for step in steps:
        match step:
            case timedelta():
                now += step
            case True:
                breaker.succeeded()
                row = 0
            case False:
                breaker.failed(now)
                row, last = row + 1, now
            case None:
                expected = row < FAILURES or now >= last + REST
                assert breaker.admits(now) == expected
                last = now if expected else last
