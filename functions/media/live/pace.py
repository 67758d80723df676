"""Pace of a stream: it may come as fast as it is recorded, and catch up for a while.

Also called: rate limit, token bucket.
"""

from datetime import datetime

SPEED = 2.0
"""So much faster than it is recorded may sound come for long."""
SPARE_S = 60.0
"""So much sound may come at once."""
MIN_COST_S = 0.005
"""Of a message, however short."""
TEXT_BYTES_PER_S = 32_000
"""A photo counts as sound of its size."""


class Pace:
    def __init__(self, now: datetime) -> None:
        self._free_s = SPARE_S
        self._at = now

    def take(self, seconds: float, now: datetime) -> bool:
        """Count sound, or a text as if it were sound; False for more than may come."""
        elapsed_s = max((now - self._at).total_seconds(), 0.0)
        self._free_s = min(self._free_s + SPEED * elapsed_s, SPARE_S) - max(seconds, MIN_COST_S)
        self._at = now
        return self._free_s >= 0
