"""Quiet hours and preferences of a user, and the decision when a notification is pushed."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from shared.domain.ids import AppId
from shared.domain.value import value

DAY = timedelta(days=1)


@value
class QuietHours:
    """Local times, `HH:MM`. What begins later than it ends crosses midnight; what ends as it begins never ends."""

    begin: str
    end: str


@value
class Preferences:
    """What an owner wants to hear of apps; whatever is not pushed still stands in the inbox.

    What quiet hours hold back comes as one digest at their end or, where `digest_hour` (0 to 23,
    local) says so, at the next such hour; without `digest` it stays in the inbox.
    """

    enabled: bool = True
    muted_apps: tuple[AppId, ...] = ()
    quiet_hours: QuietHours | None = None
    digest: bool = True
    digest_hour: int | None = None

    def is_silenced(self, app_id: AppId) -> bool:
        return not self.enabled or app_id in self.muted_apps


DeliveryDecision = datetime | Literal["push", "silence"]
"""A time means: hold it back until then."""


def decide_delivery(
    preferences: Preferences, app_id: AppId, *, zone: ZoneInfo, now: datetime
) -> DeliveryDecision:
    """Say what becomes of a push to the owner that is due at `now`."""
    if preferences.is_silenced(app_id):
        return "silence"
    hours = preferences.quiet_hours
    until = find_quiet_end(hours, zone=zone, now=now) if hours else None
    if hours is None or until is None:
        return "push"
    if not preferences.digest:
        return "silence"
    if preferences.digest_hour is None:
        return until
    digest_at = _find_next_hour(preferences.digest_hour, zone=zone, after=until)
    return until if find_quiet_end(hours, zone=zone, now=digest_at) else digest_at


def find_quiet_end(hours: QuietHours, *, zone: ZoneInfo, now: datetime) -> datetime | None:
    """Return when the quiet that `now` lies in ends, in UTC; None where it lies in none.

    Where the clock skips or repeats a local time, quiet is the longer of both readings.
    """
    until = None
    for begin, end in _list_quiet_spans(hours, zone, now):
        if begin <= (until or now) < end:
            until = end
    return until


def _list_quiet_spans(
    hours: QuietHours, zone: ZoneInfo, now: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """Yield the quiet times that may hold `now`, and one that may follow at once."""
    begin, end = time.fromisoformat(hours.begin), time.fromisoformat(hours.end)
    today = now.astimezone(zone).date()
    for day in (today - DAY, today, today + DAY):
        last = day + DAY if end <= begin else day
        yield min(_resolve_local_time(day, begin, zone)), max(_resolve_local_time(last, end, zone))


def _resolve_local_time(day: date, at: time, zone: ZoneInfo) -> list[datetime]:
    """Return when a local time is: twice the same, unless the clock skips or repeats it."""
    local = datetime.combine(day, at, zone)
    return [local.replace(fold=fold).astimezone(UTC) for fold in (0, 1)]


def _find_next_hour(hour: int, *, zone: ZoneInfo, after: datetime) -> datetime:
    today = after.astimezone(zone).date()
    days = (max(_resolve_local_time(day, time(hour), zone)) for day in (today, today + DAY))
    return next(at for at in days if at >= after)
