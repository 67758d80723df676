"""Progress of a measurement, printed."""

import sys
from collections.abc import Callable
from itertools import count

_WIDTH_CHARS = 30

Tick = Callable[[], None]


def create_progress_bar(name: str, total: int) -> Tick:
    """Return a function to call after each of `total` steps."""
    done = count(1)
    return lambda: draw_progress_bar(name, next(done), total)


def draw_progress_bar(name: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        full = "█" * (_WIDTH_CHARS * done // total)
        end = "\n" * (done >= total)
        print(
            f"\r{full:·<{_WIDTH_CHARS}} {done}/{total} {name}", end=end, file=sys.stderr, flush=True
        )
