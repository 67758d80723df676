"""Schemas of conversations: request and response bodies of the library; all times in UTC."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Self, cast

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from shared.domain.conversations.attachments import Photo
from shared.domain.conversations.conversation import (
    Conversation,
    ConversationStatus,
    Segment,
    Translation,
    Visibility,
)
from shared.domain.conversations.place import Geolocation
from shared.domain.conversations.recording import Recording
from shared.domain.failure import FailureReason
from shared.domain.ids import ConversationId, is_id
from shared.domain.tasks.action_item import TaskOwner
from shared.edge.declare.schemas import ID_PATTERN, PATTERN_WORDS, Wire

SOURCES = frozenset(
    {
        "friend", "omi", "fieldy", "bee", "plaud", "frame", "friend_com", "apple_watch", "phone",
        "phone_call", "desktop", "openglass", "screenpipe", "workflow", "sdcard",
        "external_integration", "limitless", "onboarding", "unknown",
    }
)  # fmt: skip


def _validate_client_id(name: str) -> str:
    if not is_id(name):
        raise ValueError(f"must be {PATTERN_WORDS[ID_PATTERN]}")
    return name


def _to_utc(time: datetime) -> datetime:
    return time.astimezone(UTC)


def validate_time(time: datetime) -> datetime:
    """Return the time in UTC, which is meant where it has no zone. Raises ValueError.

    No store holds the year 1: in another zone it overflows.
    """
    if not 1900 <= time.year <= 9000:
        raise ValueError("must be of the year 1900 or later")
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def _read_empty(text: object) -> object:
    return None if text == "" else text


def _normalise_source(name: object) -> object:
    return name if not isinstance(name, str) or name in SOURCES else "unknown"


def _validate_external_data(data: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(data.get("text"), str | None):
        raise ValueError("must have its words as text")  # noqa: TRY004 - pydantic's way
    if len(json.dumps(data)) > MAX_EXTERNAL_DATA_CHARS:
        raise ValueError(f"must have at most {MAX_EXTERNAL_DATA_CHARS} characters as JSON")
    return data


ClientId = Annotated[str, AfterValidator(_validate_client_id)]
Utc = Annotated[datetime, AfterValidator(_to_utc)]
Time = Annotated[AwareDatetime, AfterValidator(validate_time)]
AnyTime = Annotated[datetime, AfterValidator(validate_time)]
"""With or without a zone."""
Source = Annotated[str, BeforeValidator(_normalise_source)]
EmptyAsNone = BeforeValidator(_read_empty)
"""Of a parameter that the released app also sends empty."""
Seconds = Annotated[float, Field(ge=0, le=1e7)]
Label = Annotated[str, Field(max_length=64)]
MAX_SEGMENTS = 20_000
"""Checked while parsing: millions of empty segments would take gigabytes."""
MAX_TRANSLATIONS = 20
MAX_PHOTOS = 20
MAX_PHOTO_CHARS = 700_000
"""Of one photo as base64: with its description it fits into a document."""
MAX_EXTERNAL_DATA_CHARS = 32_768

ExternalData = Annotated[dict[str, Any], AfterValidator(_validate_external_data)]
PlaceText = Annotated[str, Field(max_length=500)]


class TranslationIn(Wire):
    lang: Label
    text: str


class PhotoIn(Wire):
    """A photo as the device sent it; `base64` is the file."""

    id: Label | None = None
    base64: Annotated[str, Field(max_length=MAX_PHOTO_CHARS)] | None = None
    description: Annotated[str, Field(max_length=5_000)] | None = None
    created_at: AnyTime | None = None
    discarded: bool = False

    def to_photo(self) -> Photo:
        return Photo(**dict(self))


class GeolocationIn(Wire):
    """A place: degrees, and metres for `altitude` and `accuracy`."""

    latitude: float | None = None
    longitude: float | None = None
    altitude: float | None = None
    accuracy: float | None = None
    google_place_id: PlaceText | None = None
    address: PlaceText | None = None
    location_type: PlaceText | None = None
    time: AnyTime | None = None

    def to_geolocation(self) -> Geolocation:
        return Geolocation(**dict(self))


class SegmentIn(Wire):
    text: str
    speaker: Label = "SPEAKER_00"
    is_user: bool = False
    start: Seconds = 0.0
    end: Seconds = 0.0
    person_id: Label | None = None
    id: Label | None = None
    translations: Annotated[tuple[TranslationIn, ...], Field(max_length=MAX_TRANSLATIONS)] = ()

    def to_segment(self) -> Segment:
        return Segment(
            text=self.text,
            speaker=self.speaker,
            is_user=self.is_user,
            start=self.start,
            end=self.end,
            person_id=self.person_id,
            id=self.id,
            translations=tuple(Translation(lang=t.lang, text=t.text) for t in self.translations),
        )


RECORDING_FIELDS = ("started_at", "finished_at", "transcript_segments")


class ConversationIn(Wire):
    """A recorded conversation. The same id with the same content may be sent again.

    The released app sends `{}` to finish a live recording.
    """

    model_config = ConfigDict(json_schema_extra={"required": list(RECORDING_FIELDS)})

    id: ClientId | None = None
    started_at: Time | None = None
    finished_at: Time | None = None
    source: Source = "unknown"
    language: Annotated[str, Field(min_length=2, max_length=16)] = "en"
    transcript_segments: Annotated[list[SegmentIn], Field(max_length=MAX_SEGMENTS)] | None = None
    photos: Annotated[tuple[PhotoIn, ...], Field(max_length=MAX_PHOTOS)] = ()
    geolocation: GeolocationIn | None = None
    external_data: ExternalData | None = None

    @model_validator(mode="after")
    def _require_recording(self) -> Self:
        missing = [name for name in RECORDING_FIELDS if getattr(self, name) is None]
        if missing and self.model_fields_set:
            raise PydanticCustomError("missing", "{field} is required", {"field": missing[0]})
        return self

    @property
    def finishes_recording(self) -> bool:
        return not self.model_fields_set

    def to_conversation(self, new_id: str) -> Conversation:
        """Build the conversation; it is created when it took place, not when it was sent."""
        assert self.started_at
        assert self.finished_at
        assert self.transcript_segments is not None
        return Conversation(
            id=ConversationId(self.id or new_id),
            created_at=self.started_at,
            started_at=self.started_at,
            finished_at=self.finished_at,
            source=self.source,
            language=self.language,
            transcript_segments=tuple(s.to_segment() for s in self.transcript_segments),
            photos=tuple(photo.to_photo() for photo in self.photos),
            geolocation=self.geolocation.to_geolocation() if self.geolocation else None,
            external_data=self.external_data,
        )


class AcceptedOut(Wire):
    id: str
    status: ConversationStatus


class TranslationOut(TypedDict):
    lang: str
    text: str


class SegmentOut(TypedDict):
    """`speaker` is SPEAKER_nn, `speaker_id` its number; `speaker_name` is null where none is known.

    A dictionary, because a list of conversations has thousands.
    """

    id: str
    text: str
    speaker: str
    speaker_id: int
    speaker_name: str | None
    is_user: bool
    person_id: str | None
    start: float
    end: float
    translations: list[TranslationOut]


def build_segments(conversation: Conversation) -> list[SegmentOut]:
    return [cast("SegmentOut", segment.to_fields()) for segment in conversation.labelled_segments]


class PhotoOut(Wire):
    id: str | None
    base64: str | None
    description: str | None
    created_at: Utc | None
    discarded: bool


class GeolocationOut(Wire):
    latitude: float | None
    longitude: float | None
    altitude: float | None
    accuracy: float | None
    google_place_id: str | None
    address: str | None
    location_type: str | None
    time: Utc | None


class AppResultOut(Wire):
    """What a summary app made of a conversation."""

    app_id: str | None
    content: str


class ItemOut(Wire):
    description: str
    completed: bool
    due_at: Utc | None = None
    owner: TaskOwner = "me"
    owner_name: str | None = None


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


class FailureOut(Wire):
    """Why processing failed; `can_retry` where trying again may help."""

    reason: FailureReason
    detail: str
    can_retry: bool


class ConversationSummaryOut(ConversationBaseOut):
    """A conversation without its transcript.

    `apps_results` are texts of summary apps, the one to show first. While an outage lets it wait,
    `waiting_since` tells since when; its status is `processing` all the while.
    """

    failure: FailureOut | None = Field(validation_alias="failure_report")
    waiting_since: Utc | None
    starred: bool
    app_id: str | None
    folder_id: str | None
    visibility: Visibility
    geolocation: GeolocationOut | None
    external_data: dict[str, Any] | None
    photos: list[PhotoOut]
    apps_results: list[AppResultOut]
    suggested_summarization_apps: list[str]


class ConversationOut(ConversationSummaryOut):
    """A conversation with its transcript.

    `dropped_memories` counts by reason what a model wanted to remember of it and was not kept.
    """

    transcript_segments: list[SegmentOut]
    dropped_memories: dict[str, int]

    @classmethod
    def of(cls, conversation: Conversation, *, with_texts: bool = True, **others: Any) -> Self:
        """Take in transcript and photos only `with_texts`; `others` are the fields of a subclass."""
        summary = vars(ConversationSummaryOut.model_validate(conversation))
        return cls.model_construct(
            **(summary if with_texts else {**summary, "photos": []}),
            transcript_segments=build_segments(conversation) if with_texts else [],
            dropped_memories=dict(conversation.dropped_memories),
            **others,
        )


class AudioFileOut(Wire):
    """Kept sound of a conversation; `duration` is in seconds."""

    id: str
    started_at: Utc | None
    duration: float

    @classmethod
    def of(cls, recording: Recording) -> Self:
        return cls(
            id=recording.id,
            started_at=recording.started_at,
            duration=recording.duration_s or 0.0,
        )


class ConversationWithSoundOut(ConversationOut):
    """A conversation with its transcript, and the sound of it that is kept.

    `words_hash` tells whether what was said is what an answer cited; null where no words are left.
    """

    audio_files: list[AudioFileOut]
    words_hash: str | None
