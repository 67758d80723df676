"""How often MCP clients ask, on this instance."""

from datetime import datetime, timedelta

from shared.domain.errors import TooMany
from shared.domain.rate import Rate

PER_MINUTE = 120
MOST_KEPT = 10_000


class KeyRates:
    """A rate for each of the last keys used here; only keys that are known may be asked about."""

    def __init__(self) -> None:
        self._rates: dict[str, Rate] = {}

    def check(self, key_id: str, now: datetime) -> None:
        """Raises TooMany."""
        rate = self._rates.pop(key_id, None) or Rate(PER_MINUTE, timedelta(minutes=1))
        self._rates[key_id] = rate
        if len(self._rates) > MOST_KEPT:
            del self._rates[next(iter(self._rates))]
        if wait := rate.take(now):
            seconds = -(-wait // timedelta(seconds=1))
            raise TooMany(f"At most {PER_MINUTE} messages a minute.", retry_after_s=seconds)
