"""Apple Health: a user's figures of the last days, as their phone sent them.

Also called: HealthKit.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from shared.domain.value import value

HealthRecord = Mapping[str, float | bool | str | None]
"""One day, night or workout, as names and values."""


@value
class AppleHealth:
    """Figures by the names of the phone: `numbers` of the whole period, `records` of its parts."""

    numbers: Mapping[str, float] = field(default_factory=dict)
    records: Mapping[str, tuple[HealthRecord, ...]] = field(default_factory=dict)
    synced_at: datetime | None = None
