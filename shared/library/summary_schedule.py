"""Schedule of daily summaries: a task for each day that holds a conversation, when its owner wants it."""

import hashlib
from datetime import date, datetime, timedelta

from shared.domain.account.profile import Profile
from shared.domain.conversations.daily_summary import DAY, find_day
from shared.domain.ids import UserId
from shared.ports import Tasks

SUMMARISE_TARGET = "summarise_day"
MAX_LATE = timedelta(days=1)
"""A day that was due earlier gets no summary any more: old recordings are imported by the hundred."""
MAX_AHEAD = timedelta(days=3)
"""Clients write the times of conversations; a queue takes no task of a later year."""
PAUSE = timedelta(minutes=10)
"""Between what is late and its summary: recordings that come late come together."""


async def schedule_summary(
    tasks: Tasks, uid: UserId, profile: Profile, day: date, *, now: datetime
) -> None:
    """Create the task of a day, once for each time at which it can be due.

    The task looks at the profile again, so that one too many does no harm. One that is late has a
    name of its own: the day may have been due before, when its owner wanted none.
    """
    if not profile.daily_summary.enabled:
        return
    due = profile.daily_summary.find_due(day, profile.zone)
    if -MAX_AHEAD < now - due <= MAX_LATE:
        await schedule_at(tasks, uid, day, due if due > now else find_next_window(now))


async def schedule_recent_days(tasks: Tasks, uid: UserId, profile: Profile, now: datetime) -> None:
    """Schedule the days whose summaries a change of hour or time zone may move.

    From one end of the world to the other, a clock goes back by more than a day.
    """
    today = find_day(now, profile.zone)
    for age in range(3):
        await schedule_summary(tasks, uid, profile, today - age * DAY, now=now)


async def schedule_at(tasks: Tasks, uid: UserId, day: date, at: datetime) -> None:
    owner = hashlib.sha256(uid.encode()).hexdigest()[:32]
    name = f"summary-{owner}-{day:%Y%m%d}-{at:%Y%m%dT%H%M}"
    await tasks.create(SUMMARISE_TARGET, name, {"uid": uid, "day": day.isoformat()}, at=at)


def find_next_window(now: datetime) -> datetime:
    """Return the end of the next whole PAUSE: all that is late until then shares one task."""
    epoch = datetime.fromtimestamp(0, now.tzinfo)
    return epoch + ((now - epoch) // PAUSE + 2) * PAUSE
