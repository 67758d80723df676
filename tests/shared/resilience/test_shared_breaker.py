"""Breaker that users share: one of them opens it for nobody else, an outage opens it for all (C57)."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from shared.resilience.circuit_breaker import FAILURE_THRESHOLD, OPEN_FOR
from shared.resilience.retry import MAX_ATTEMPTS
from shared.resilience.shared_breaker import Blame, SharedBreaker

START = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
BLAMES = st.sampled_from(["unknown", "request"])


@given(st.lists(BLAMES, max_size=40), st.lists(st.integers(0, 60), max_size=40))
def test_no_number_of_failures_of_one_user_stops_another_c57(
    blames: list[Blame], pauses_s: list[int]
) -> None:
    breaker, now = SharedBreaker(), START
    for blame, pause_s in zip(blames, pauses_s, strict=False):
        now += timedelta(seconds=pause_s)
        if breaker.allow(now, "ann"):
            breaker.record_failure(now, "ann", blame)

        assert breaker.allow(now, "bob")


@given(st.lists(BLAMES, min_size=FAILURE_THRESHOLD, max_size=40))
def test_who_fails_time_after_time_is_left_alone_for_a_while_c57(blames: list[Blame]) -> None:
    breaker = SharedBreaker()
    for blame in blames:
        breaker.record_failure(START, "ann", blame)

    assert not breaker.allow(START, "ann")
    assert breaker.allow(START + OPEN_FOR, "ann")


def test_a_service_that_is_away_is_left_alone_by_all_c57() -> None:
    breaker = SharedBreaker()
    for _ in range(FAILURE_THRESHOLD):
        breaker.record_failure(START, "ann", "service")

    assert not breaker.allow(START, "ann")
    assert not breaker.allow(START, "bob")
    assert [breaker.allow(START + OPEN_FOR, "bob") for _ in range(2)] == [True, False]


def test_what_fails_for_several_users_is_left_alone_by_all_c57() -> None:
    breaker = SharedBreaker()
    for asker in ("ann", "bob", "eve"):
        for _ in range(MAX_ATTEMPTS):
            breaker.record_failure(START, asker, "unknown")

    assert not breaker.allow(START, "joe")


def test_who_waits_behind_the_long_request_of_another_blames_no_service_c57() -> None:
    breaker = SharedBreaker()
    for asker in ("ann", "bob", "eve"):
        for _ in range(MAX_ATTEMPTS):
            breaker.record_failure(START, asker, "request")

    assert breaker.allow(START, "joe")


def test_the_failing_user_neither_takes_the_probe_of_all_nor_prolongs_their_waiting_c57() -> None:
    breaker = SharedBreaker()
    for _ in range(FAILURE_THRESHOLD):
        breaker.record_failure(START, "ann", "unknown")
    for _ in range(FAILURE_THRESHOLD - MAX_ATTEMPTS):
        breaker.record_failure(START, "bob", "service")
    later = START + OPEN_FOR

    assert breaker.allow(later, "ann")
    breaker.record_failure(later, "ann", "unknown")

    assert breaker.allow(later, "joe")


@given(st.lists(st.tuples(st.sampled_from(["ann", "bob"]), BLAMES), max_size=40))
def test_a_success_closes_it_for_everybody_c57(failures: list[tuple[str, Blame]]) -> None:
    breaker = SharedBreaker()
    for asker, blame in failures:
        breaker.record_failure(START, asker, blame)

    breaker.record_success()

    assert all(breaker.allow(START, asker) for asker in ("ann", "bob", "joe"))
