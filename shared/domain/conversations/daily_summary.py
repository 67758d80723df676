"""Daily summary: what a day of its owner held, and when it is due by their clock."""

from dataclasses import field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from shared.domain.ids import AppId, ConversationId
from shared.domain.value import value

Priority = Literal["high", "medium", "low"]
DAILY_SUMMARY = AppId("daily_summary")
"""Stands for the daily summary among the apps that notify."""
DAY = timedelta(days=1)
NOON = 12


@value
class DailySummarySettings:
    """Whether an owner gets daily summaries, and at which local hour, 0 to 23.

    An hour before noon belongs to the next morning: the day is over then.
    """

    enabled: bool = True
    hour: int = 22

    def find_due(self, day: date, zone: ZoneInfo) -> datetime:
        """Return in UTC when the summary of a local day is due."""
        due_day = day + DAY if self.hour < NOON else day
        return datetime.combine(due_day, time(self.hour), zone).astimezone(UTC)


@value
class DayStats:
    """Counts of a day."""

    total_conversations: int = 0
    total_duration_minutes: int = 0
    action_items_count: int = 0


@value
class Highlight:
    """One subject of a day, and the conversations about it."""

    topic: str
    summary: str
    emoji: str = ""
    conversation_ids: tuple[ConversationId, ...] = ()


@value
class DayTask:
    """A task of a day, as it was then; `segment` is the line of its conversation that says it, from 0."""

    description: str
    priority: Priority = "medium"
    source_conversation_id: ConversationId | None = None
    completed: bool = False
    segment: int | None = None


@value
class DayNote:
    """A sentence about a day, and the conversation that it rests on; `segment` is the line there that says it, from 0."""

    text: str
    conversation_id: ConversationId | None = None
    segment: int | None = None


@value
class DayPlace:
    """A place where a conversation of a day was recorded."""

    latitude: float
    longitude: float
    address: str | None = None
    conversation_id: ConversationId | None = None
    time: datetime | None = None


@value
class DailySummary:
    """The summary of one local day; its id is the day as YYYY-MM-DD.

    `decisions` and `numbers` are quotations of lines that say them.
    `is_scheduled` once it was made when it was due; one that its owner asked for earlier is replaced
    then. `announced_at` is when its owner was told of it.
    """

    id: str
    created_at: datetime
    headline: str
    overview: str
    day_emoji: str = "🗓️"
    stats: DayStats = field(default_factory=DayStats)
    highlights: tuple[Highlight, ...] = ()
    tasks: tuple[DayTask, ...] = ()
    unresolved_questions: tuple[DayNote, ...] = ()
    decisions: tuple[DayNote, ...] = ()
    numbers: tuple[DayNote, ...] = ()
    insights: tuple[DayNote, ...] = ()
    places: tuple[DayPlace, ...] = ()
    is_scheduled: bool = False
    announced_at: datetime | None = None

    def renew(self, new: "DailySummary") -> "DailySummary":
        """Return what is to be stored of this one and a new one of the same day.

        Of two that were made when they were due, the first stays. One that its owner asked for
        replaces the content alone, so that they are told once.
        """
        if not self.is_scheduled:
            return new
        if new.is_scheduled:
            return self
        return replace(new, is_scheduled=True, announced_at=self.announced_at)


def find_day(instant: datetime, zone: ZoneInfo) -> date:
    """Return the local day of an instant."""
    return instant.astimezone(zone).date()


def find_bounds(day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return in UTC where a local day begins, and where the next one does."""
    begin, end = (datetime.combine(d, time(), zone).astimezone(UTC) for d in (day, day + DAY))
    return begin, end
