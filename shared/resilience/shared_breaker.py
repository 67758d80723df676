"""Shared breaker: a circuit breaker for all users, which the requests of one cannot open for the others."""

from datetime import datetime
from typing import Literal

from shared.resilience.circuit_breaker import CircuitBreaker
from shared.resilience.retry import MAX_ATTEMPTS

Blame = Literal["service", "unknown", "request"]
"""What a failure is put down to: to the service alone, to it or to what was asked of it, or to the latter."""


class SharedBreaker:
    """A breaker for everybody, and one more for each user whose requests have failed since a success.

    What cannot be a user's doing counts for everybody, each time. What may be counts for its user each
    time, but for everybody only as often as one request is tried: no user alone opens it for others.
    """

    def __init__(self) -> None:
        self._of_all = CircuitBreaker()
        self._by_asker: dict[str, CircuitBreaker] = {}

    def allow(self, now: datetime, asker: str) -> bool:
        """Tell whether a call may go out. The probe for everybody is left to whom nothing failed for."""
        own = self._by_asker.get(asker)
        if own is None:
            return self._of_all.allow(now)
        return not self._of_all.is_open(now) and own.allow(now)

    def record_success(self) -> None:
        """Record any answer that shows the service at work, whoever asked."""
        self._of_all.record_success()
        self._by_asker.clear()

    def record_failure(self, now: datetime, asker: str, blame: Blame) -> None:
        if blame == "service":
            return self._of_all.record_failure(now)
        own = self._by_asker.setdefault(asker, CircuitBreaker())
        own.record_failure(now)
        if blame == "unknown" and own.failures <= MAX_ATTEMPTS:
            self._of_all.record_failure(now)
        return None
