"""Stand-ins for what a test must decide itself: time, ids, the model and pushes."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass
class FixedClock:
    """Stands still until told."""

    time: datetime = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def pass_(self, **duration: float) -> None:
        self.time += timedelta(**duration)


@dataclass
class CountingIds:
    """id0001, id0002, …"""

    prefix: str = "id"
    count: int = field(default=0)

    def __call__(self) -> str:
        self.count += 1
        return f"{self.prefix}{self.count:04d}"
