"""Two attempts, never more, and only at what passes (C55)."""

import pytest

from shared.domain.errors import Invalid, KeepsakeError, Unavailable
from shared.resilience.retry import BACKOFF_S, MAX_BACKOFF_S, compute_backoff_s, retry_once
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


async def test_a_call_that_fails_once_succeeds_at_the_second_attempt_c55() -> None:
    call, clock = FailingCall(Unavailable("busy")), AutoAdvanceClock()

    assert await retry_once(call, clock.sleep) == "done"
    assert call.calls == 2
    assert BACKOFF_S / 2 <= clock.sleeps_s[0] <= BACKOFF_S


async def test_a_second_failure_is_final_c55() -> None:
    call = FailingCall(Unavailable("busy"), Unavailable("still busy"))

    with pytest.raises(Unavailable, match="still busy"):
        await retry_once(call, AutoAdvanceClock().sleep)

    assert call.calls == 2


async def test_a_permanent_failure_is_not_retried_c55() -> None:
    call = FailingCall(Invalid("no"))

    with pytest.raises(Invalid):
        await retry_once(call, AutoAdvanceClock().sleep)

    assert call.calls == 1


async def test_a_call_is_not_retried_if_retry_after_exceeds_the_maximum_c55() -> None:
    call = FailingCall(Unavailable("busy", retry_after_s=MAX_BACKOFF_S + 1))

    with pytest.raises(Unavailable):
        await retry_once(call, AutoAdvanceClock().sleep)

    assert call.calls == 1


@pytest.mark.parametrize("asked_s", [0.0, 1.0, MAX_BACKOFF_S])
def test_a_short_retry_after_is_respected_c55(asked_s: float) -> None:
    wait_s = compute_backoff_s(Unavailable("busy", retry_after_s=asked_s))

    assert wait_s is not None
    assert asked_s < wait_s <= asked_s + BACKOFF_S
