"""Quiet hours: whether a push is delivered now, deferred to a digest, or suppressed.

Times are aware UTC datetimes; quiet hours are local times in the owner's zone.

Also called: do not disturb, timezone handling.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from shared.domain.account.notification_preferences import Preferences, QuietHours
from shared.domain.ids import AppId

DAY = timedelta(days=1)

DeliveryDecision = datetime | Literal["push", "silence"]
"""A datetime defers the push to the digest at that time."""


def decide_delivery(
    preferences: Preferences, app_id: AppId, *, zone: ZoneInfo, now: datetime
) -> DeliveryDecision:
    """Decide what happens to an app's push to the owner that is due at `now`."""
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
    """Return when the quiet hours around `now` end, in UTC; None outside quiet hours.

    Where a clock change skips or repeats a local time, the longer quiet span counts.
    """
    until = None
    for begin, end in _list_quiet_spans(hours, zone, now):
        if begin <= (until or now) < end:
            until = end
    return until


def _list_quiet_spans(
    hours: QuietHours, zone: ZoneInfo, now: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """Yield the quiet spans that may contain `now`, and the next, which may follow without a gap."""
    begin, end = time.fromisoformat(hours.begin), time.fromisoformat(hours.end)
    today = now.astimezone(zone).date()
    for day in (today - DAY, today, today + DAY):
        last = day + DAY if end <= begin else day
        yield min(_resolve_local_time(day, begin, zone)), max(_resolve_local_time(last, end, zone))


def _resolve_local_time(day: date, at: time, zone: ZoneInfo) -> list[datetime]:
    """Return both readings of a local time in UTC; they differ only where the clock changes."""
    local = datetime.combine(day, at, zone)
    return [local.replace(fold=fold).astimezone(UTC) for fold in (0, 1)]


def _find_next_hour(hour: int, *, zone: ZoneInfo, after: datetime) -> datetime:
    today = after.astimezone(zone).date()
    days = (max(_resolve_local_time(day, time(hour), zone)) for day in (today, today + DAY))
    return next(at for at in days if at >= after)
