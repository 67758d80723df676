"""Skewed clock: the machine's clock, wrong by a constant, of a whole process."""

from datetime import datetime, timedelta

from shared import wiring
from shared.adapters.system_clock import SystemClock


class SkewedClock(SystemClock):
    def __init__(self, skew: timedelta) -> None:
        self._skew = skew

    def now(self) -> datetime:
        return super().now() + self._skew


def use_skewed_clock(skew_s: float) -> None:
    """Replace the clock before anything asks for the time."""
    clock = SkewedClock(timedelta(seconds=skew_s))
    wiring.machine_clock = lambda: clock  # type: ignore[assignment]  # a function like the one it replaces
