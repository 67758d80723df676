"""Two attempts, never more, and only at what passes (C55)."""

import pytest

from shared.domain.attempts import LONGEST_PAUSE_S, PAUSE_S, pause_s, twice
from shared.domain.errors import Invalid, KeepsakeError, Unavailable
from tests.doubles import HastyClock


class Fails:
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
    call, clock = Fails(Unavailable("busy")), HastyClock()

    assert await twice(call, clock.sleep) == "done"
    assert call.calls == 2
    assert PAUSE_S / 2 <= clock.waits[0] <= PAUSE_S


async def test_a_second_failure_is_final_c55() -> None:
    call = Fails(Unavailable("busy"), Unavailable("still busy"))

    with pytest.raises(Unavailable, match="still busy"):
        await twice(call, HastyClock().sleep)

    assert call.calls == 2


async def test_what_does_not_pass_is_tried_once_c55() -> None:
    call = Fails(Invalid("no"))

    with pytest.raises(Invalid):
        await twice(call, HastyClock().sleep)

    assert call.calls == 1


async def test_who_asks_to_be_left_alone_for_long_is_not_asked_again_c55() -> None:
    call = Fails(Unavailable("busy", retry_after_s=LONGEST_PAUSE_S + 1))

    with pytest.raises(Unavailable):
        await twice(call, HastyClock().sleep)

    assert call.calls == 1


@pytest.mark.parametrize("asked_s", [0.0, 1.0, LONGEST_PAUSE_S])
def test_a_short_wait_that_is_asked_for_is_kept_c55(asked_s: float) -> None:
    wait_s = pause_s(Unavailable("busy", retry_after_s=asked_s))

    assert wait_s is not None
    assert asked_s < wait_s <= asked_s + PAUSE_S
