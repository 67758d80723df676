"""Server of the soak, `python -m infra.soak.server 5`: `make run` on a machine whose clock is 5 s ahead."""

import sys
from datetime import datetime, timedelta

from infra.local.__main__ import main
from shared import wiring
from shared.adapters.system_clock import SystemClock


class SkewedClock(SystemClock):
    """The machine's clock, wrong by a constant."""

    def __init__(self, skew: timedelta) -> None:
        self._skew = skew

    def now(self) -> datetime:
        return super().now() + self._skew


def run(skew_s: float) -> int:
    clock = SkewedClock(timedelta(seconds=skew_s))
    wiring.clock = lambda: clock  # type: ignore[assignment]  # before anything asks for the time
    return main()


if __name__ == "__main__":
    sys.exit(run(float(sys.argv[1])))
