"""Schemas of conversations: request and response bodies of the library; all times in UTC."""

from datetime import UTC, datetime
from typing import Annotated, Self

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

from shared.domain.conversation import Conversation, ConversationStatus, Segment
from shared.domain.ids import ConversationId, is_id
from shared.edge.schemas import PageQuery, Wire

SOURCES = frozenset(
    {
        "friend", "omi", "fieldy", "bee", "plaud", "frame", "friend_com", "apple_watch", "phone",
        "phone_call", "desktop", "openglass", "screenpipe", "workflow", "sdcard",
        "external_integration", "limitless", "onboarding", "unknown",
    }
)  # fmt: skip


def _validate_client_id(name: str) -> str:
    if not is_id(name):
        raise ValueError("an id is 1 to 64 letters, digits, '-' or '_'")
    return name


def _to_utc(time: datetime) -> datetime:
    return time.astimezone(UTC)


def validate_time(time: datetime) -> datetime:
    """Return the time in UTC, which is meant where it has no zone. Raises ValueError.

    No store holds the year 1: in another zone it overflows.
    """
    if not 1900 <= time.year <= 9000:
        raise ValueError("a year from 1900 is expected")
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def _normalise_source(name: object) -> object:
    return name if not isinstance(name, str) or name in SOURCES else "unknown"


ClientId = Annotated[str, AfterValidator(_validate_client_id)]
Utc = Annotated[datetime, AfterValidator(_to_utc)]
Time = Annotated[AwareDatetime, AfterValidator(validate_time)]
Source = Annotated[str, BeforeValidator(_normalise_source)]
Seconds = Annotated[float, Field(ge=0, le=1e7)]
Label = Annotated[str, Field(max_length=64)]
MAX_SEGMENTS = 20_000
"""Checked while parsing: millions of empty segments would take gigabytes."""


class SegmentIn(Wire):
    text: str
    speaker: Label = "SPEAKER_00"
    is_user: bool = False
    start: Seconds = 0.0
    end: Seconds = 0.0
    person_id: Label | None = None

    def to_segment(self) -> Segment:
        return Segment(
            text=self.text,
            speaker=self.speaker,
            is_user=self.is_user,
            start=self.start,
            end=self.end,
            person_id=self.person_id,
        )


class ConversationIn(Wire):
    """A recorded conversation. The same id with the same content may be sent again."""

    id: ClientId | None = None
    started_at: Time
    finished_at: Time
    source: Source = "unknown"
    language: Annotated[str, Field(min_length=2, max_length=16)] = "en"
    transcript_segments: Annotated[list[SegmentIn], Field(max_length=MAX_SEGMENTS)]

    def to_conversation(self, new_id: str) -> Conversation:
        """Build the conversation; it is created when it took place, not when it was sent."""
        return Conversation(
            id=ConversationId(self.id or new_id),
            created_at=self.started_at,
            started_at=self.started_at,
            finished_at=self.finished_at,
            source=self.source,
            language=self.language,
            transcript_segments=tuple(s.to_segment() for s in self.transcript_segments),
        )


class AcceptedOut(Wire):
    id: str
    status: ConversationStatus


class SegmentOut(Wire):
    """`speaker` is the name that the owner gave, `label` the one of the recorder."""

    text: str
    label: str
    speaker: str
    is_user: bool
    start: float
    end: float
    person_id: str | None


class ItemOut(Wire):
    description: str
    completed: bool
    due_at: Utc | None = None


class EventOut(Wire):
    title: str
    description: str
    start: Utc
    duration: int
    created: bool


class StructuredOut(Wire):
    title: str
    overview: str
    emoji: str
    category: str
    action_items: list[ItemOut]
    events: list[EventOut]


class ConversationBaseOut(Wire):
    """The fields of a conversation that its owner and apps read."""

    id: str
    created_at: Utc
    started_at: Utc
    finished_at: Utc
    source: Source
    language: str
    status: ConversationStatus
    discarded: bool
    structured: StructuredOut


class ConversationSummaryOut(ConversationBaseOut):
    """A conversation in a list: without its transcript."""

    failure: str | None
    starred: bool
    app_id: str | None


class ConversationOut(ConversationSummaryOut):
    """A conversation with its transcript, speakers by the names that the owner gave."""

    transcript_segments: list[SegmentOut]

    @classmethod
    def of(cls, conversation: Conversation) -> Self:
        summary = ConversationSummaryOut.model_validate(conversation)
        segment_pairs = zip(
            conversation.transcript_segments, conversation.named_segments, strict=True
        )
        segments = [
            SegmentOut.model_construct(label=segment.speaker, **named_segment.to_fields())
            for segment, named_segment in segment_pairs
        ]
        return cls(**dict(summary), transcript_segments=segments)


class ConversationPageOut(Wire):
    """A page, newest first; `next_cursor` is null at the end."""

    conversations: list[ConversationSummaryOut]
    next_cursor: str | None


class ConversationPageQuery(PageQuery):
    limit: Annotated[int, Field(ge=1, le=100)] = 25


Name = Annotated[str, Field(min_length=1, max_length=100)]


class ConversationSearchIn(Wire):
    """Conversations from `start_date` to before `end_date` that match the query.

    A match has any of the `people`, as a speaker or by mention, and any of the `topics`.
    """

    query: Annotated[str, Field(min_length=1, max_length=1_000)]
    start_date: Time | None = None
    end_date: Time | None = None
    people: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    topics: Annotated[tuple[Name, ...], Field(max_length=20)] = ()
    limit: Annotated[int, Field(ge=1, le=200)] = 20


class PassageOut(Wire):
    first_segment: int
    last_segment: int
    text: str


class HitOut(Wire):
    conversation_id: str
    score: float
    passages: list[PassageOut]


class ConversationHitsOut(Wire):
    """Best first; each conversation once.

    `fallback_without_filters`: nothing matched people and topics, so they were ignored.
    """

    hits: list[HitOut]
    fallback_without_filters: bool = False
