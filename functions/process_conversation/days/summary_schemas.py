"""Bodies of daily summaries, with the names that the mobile app reads."""

from datetime import date, datetime
from typing import Annotated

from pydantic import Field

from shared.domain.conversations.daily_summary import DailySummary, Priority
from shared.domain.ids import UserId
from shared.edge.declare.schemas import Wire


class DailySummarySettingsIn(Wire):
    """Fields left out, or null, keep their value."""

    enabled: bool | None = None
    hour: Annotated[int, Field(ge=0, le=23)] | None = None


class DailySummarySettingsOut(Wire):
    """`hour` is local; one before noon belongs to the morning after the day."""

    enabled: bool
    hour: int


class SummaryRequestIn(Wire):
    """The local day to summarise; today without one."""

    day: Annotated[date, Field(ge=date(1900, 1, 1), le=date(9000, 1, 1))] | None = Field(
        default=None, alias="date"
    )


class SummaryRequestOut(Wire):
    """The summary that was made; its id is the day."""

    summary_id: str


class SummaryPageQuery(Wire):
    """A page of days; both dates are included."""

    limit: Annotated[int, Field(ge=1, le=100)] = 30
    offset: Annotated[int, Field(ge=0)] = 0
    start_date: date | None = None
    end_date: date | None = None


class DayStatsOut(Wire):
    total_conversations: int
    total_duration_minutes: int
    action_items_count: int


class HighlightOut(Wire):
    topic: str
    emoji: str
    summary: str
    conversation_ids: list[str]


class DayTaskOut(Wire):
    description: str
    priority: Priority
    source_conversation_id: str | None
    completed: bool
    segment: int | None


class QuestionOut(Wire):
    question: str
    conversation_id: str | None


class DecisionOut(Wire):
    """What a line says: `segment` is its place in the transcript, from 0."""

    decision: str
    conversation_id: str | None
    segment: int | None


class NumberOut(Wire):
    """A line that says a number."""

    said: str
    conversation_id: str | None
    segment: int | None


class InsightOut(Wire):
    insight: str
    conversation_id: str | None


class DayPlaceOut(Wire):
    latitude: float
    longitude: float
    address: str | None
    conversation_id: str | None
    time: datetime | None


class DailySummaryOut(Wire):
    """The summary of a local day."""

    id: str
    date: str
    created_at: datetime
    headline: str
    overview: str
    day_emoji: str
    stats: DayStatsOut
    highlights: list[HighlightOut]
    action_items: list[DayTaskOut]
    unresolved_questions: list[QuestionOut]
    decisions_made: list[DecisionOut]
    numbers: list[NumberOut]
    knowledge_nuggets: list[InsightOut]
    locations: list[DayPlaceOut]

    @classmethod
    def of(cls, summary: DailySummary) -> "DailySummaryOut":
        return cls(
            id=summary.id,
            date=summary.id,
            created_at=summary.created_at,
            headline=summary.headline,
            overview=summary.overview,
            day_emoji=summary.day_emoji,
            stats=DayStatsOut.model_validate(summary.stats),
            highlights=[HighlightOut.model_validate(one) for one in summary.highlights],
            action_items=[DayTaskOut.model_validate(one) for one in summary.tasks],
            unresolved_questions=[
                QuestionOut(question=one.text, conversation_id=one.conversation_id)
                for one in summary.unresolved_questions
            ],
            decisions_made=[
                DecisionOut(
                    decision=one.text, conversation_id=one.conversation_id, segment=one.segment
                )
                for one in summary.decisions
            ],
            numbers=[
                NumberOut(said=one.text, conversation_id=one.conversation_id, segment=one.segment)
                for one in summary.numbers
            ],
            knowledge_nuggets=[
                InsightOut(insight=one.text, conversation_id=one.conversation_id)
                for one in summary.insights
            ],
            locations=[DayPlaceOut.model_validate(one) for one in summary.places],
        )


class DailySummariesOut(Wire):
    """Newest day first."""

    summaries: list[DailySummaryOut]


class SummariseDayIn(Wire):
    """The task of a day."""

    uid: UserId
    day: date
