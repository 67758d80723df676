"""Retry with backoff."""

import anyio
import pytest

from shared.domain.errors import Invalid, KeepsakeError, Unavailable
from shared.resilience.retry import BACKOFF_S, MAX_BACKOFF_S, compute_backoff_s, retry
from tests.fakes import AutoAdvanceClock


class FailingCall:
    """Raises `failures` one after the other, then answers."""

    def __init__(self, *failures: KeepsakeError) -> None:
        self._failures = list(failures)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self._failures:
            raise self._failures.pop(0)
        return "done"


class Contended(Unavailable):
    """A kind of failure that a caller retries alone."""


async def test_a_call_that_fails_once_succeeds_at_the_second_attempt_c55() -> None:
    call, clock = FailingCall(Unavailable("busy")), AutoAdvanceClock()

    assert await retry(call, sleep=clock.sleep) == "done"
    assert call.calls == 2
    assert BACKOFF_S / 2 <= clock.sleeps_s[0] <= BACKOFF_S


@pytest.mark.parametrize(
    "failures",
    [
        pytest.param([Unavailable("busy"), Unavailable("still busy")], id="second failure"),
        pytest.param([Invalid("no")], id="permanent failure"),
        pytest.param([Unavailable("busy", retry_after_s=MAX_BACKOFF_S + 1)], id="long retry-after"),
    ],
)
async def test_a_failure_that_is_not_retried_is_raised_c55(failures: list[KeepsakeError]) -> None:
    call = FailingCall(*failures)

    with pytest.raises(type(failures[-1]), match=str(failures[-1])):
        await retry(call, sleep=AutoAdvanceClock().sleep)

    assert call.calls == len(failures)


async def test_a_failure_of_another_kind_is_not_retried() -> None:
    call = FailingCall(Contended("busy"), Unavailable("down"))

    with pytest.raises(Unavailable, match="down"):
        await retry(call, sleep=AutoAdvanceClock().sleep, on=Contended, attempts=5)

    assert call.calls == 2


async def test_the_backoff_is_told_the_number_of_failed_attempts() -> None:
    call, clock = FailingCall(*[Unavailable("busy")] * 3), AutoAdvanceClock()

    await retry(call, sleep=clock.sleep, attempts=4, backoff=lambda attempt, _: attempt)

    assert clock.sleeps_s == [1, 2, 3]


async def test_an_attempt_without_an_answer_is_retried_after_its_timeout() -> None:
    works = iter([anyio.sleep_forever, anyio.lowlevel.checkpoint])

    async def call() -> None:
        await next(works)()

    await retry(call, sleep=AutoAdvanceClock().sleep, timeout_s=0.001)

    assert next(works, None) is None


@pytest.mark.parametrize("retry_after_s", [0.0, 1.0, MAX_BACKOFF_S])
def test_a_short_retry_after_is_respected_c55(retry_after_s: float) -> None:
    pause_s = compute_backoff_s(1, Unavailable("busy", retry_after_s=retry_after_s))

    assert pause_s is not None
    assert retry_after_s < pause_s <= retry_after_s + BACKOFF_S


@pytest.mark.parametrize("attempt", [1, 2, 3])
def test_the_backoff_doubles_with_each_attempt(attempt: int) -> None:
    pause_s = compute_backoff_s(attempt, Unavailable("busy"))

    assert pause_s is not None
    assert BACKOFF_S / 2 * 2 ** (attempt - 1) <= pause_s <= BACKOFF_S * 2 ** (attempt - 1)
