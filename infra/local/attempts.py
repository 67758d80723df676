"""Limits of sign-in attempts where others reach the server: by address, and in all."""

from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address

from shared.domain.errors import TooMany
from shared.ports import Clock
from shared.resilience.key_rate_limiter import KeyRateLimiter
from shared.resilience.rate_limiter import RateLimiter

MAX_OF_AN_ADDRESS = 10
MAX_FIRST = 600
MAX_FURTHER = 60
"""Attempts a minute, of all addresses; whoever is signed in already is not affected."""


class AttemptLimits:
    """Counts every attempt, also a right one; an address that is refused takes nothing from others.

    The first of an address within a minute is counted apart from its further ones: few addresses that guess leave
    room for whoever knows their password.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._of_address = KeyRateLimiter(MAX_OF_AN_ADDRESS, unit="attempts")
        self._first_of_address = KeyRateLimiter(1, unit="attempts")
        self._first = RateLimiter(MAX_FIRST, timedelta(minutes=1))
        self._further = RateLimiter(MAX_FURTHER, timedelta(minutes=1))

    def check(self, address: str) -> None:
        """Raises TooMany."""
        now = self._clock.now()
        network = _find_network(address)
        self._of_address.check(network, now)
        in_all = self._first if self._is_first(network, now) else self._further
        if wait := in_all.acquire(now):
            seconds = -(-wait // timedelta(seconds=1))
            raise TooMany("Too many people try to sign in.", retry_after_s=seconds)

    def _is_first(self, network: str, now: datetime) -> bool:
        try:
            self._first_of_address.check(network, now)
        except TooMany:
            return False
        return True


def _find_network(address: str) -> str:
    """Return what one caller has: an IPv4 address, or the first half of an IPv6 one."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or int(parsed) >> 64)
