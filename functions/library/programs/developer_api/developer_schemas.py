"""Schemas of the developer API, which scripts of the user's own call; all times in UTC."""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, BeforeValidator, Field, StringConstraints, model_validator

from functions.library.date_filters import FirstLocalMoment, LastLocalMoment
from functions.library.programs.program_schemas import (
    ConversationsQuery,
    MemoriesQuery,
    Offset,
    ProgramMemoryOut,
    ProgramTaskOut,
)
from functions.library.schemas import TitleText
from shared.domain.conversations.conversation import Conversation, ConversationStatus
from shared.domain.conversations.folder import FolderList
from shared.domain.memories.memory import MemoryCategory
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import (
    AnyTime,
    GeolocationIn,
    Label,
    Seconds,
    SegmentOut,
    Source,
    StructuredOut,
    Utc,
    build_segments,
)
from shared.library.record_schemas import Description, Tags, Visibility, parse_category

MAX_MEMORY_CHARS = 500
MAX_MEMORY_BATCH = 25
MAX_TASK_BATCH = 50
MAX_TEXT_CHARS = 100_000
MAX_SEGMENTS = 500
DEFAULT_LENGTH = timedelta(minutes=5)
"""For a conversation without an end."""

Content = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MEMORY_CHARS)
]
Category = Annotated[MemoryCategory, BeforeValidator(parse_category)]
Language = Annotated[str, Field(min_length=2, max_length=16)]


class Change(Wire):
    """A change that changes something: at least one field is sent."""

    @model_validator(mode="after")
    def _require_change(self) -> Self:
        if not self.to_changes():
            raise ValueError("at least one field to change must be named")
        return self

    def to_changes(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class SuccessOut(Wire):
    success: Literal[True] = True


# --- memories


class DeveloperMemoriesQuery(MemoriesQuery):
    limit: Annotated[int, Field(ge=1, le=1_000)] = 25


class DeveloperMemoryIn(Wire):
    content: Content
    category: Category = "manual"
    visibility: Visibility = "private"
    tags: Tags = ()


class DeveloperMemoriesIn(Wire):
    memories: Annotated[list[DeveloperMemoryIn], Field(min_length=1, max_length=MAX_MEMORY_BATCH)]


class DeveloperMemoryChangeIn(Change):
    content: Content | None = None
    category: Category | None = None
    visibility: Visibility | None = None
    tags: Tags | None = None


class MemoriesCreatedOut(Wire):
    memories: list[ProgramMemoryOut]
    created_count: int


# --- action items


class DeveloperTasksQuery(Wire):
    """Both dates are included, by the owner's clock, and mean when a task was created."""

    conversation_id: Label | None = None
    completed: bool | None = None
    start_date: FirstLocalMoment = None
    end_date: LastLocalMoment = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    offset: Offset = 0


class DeveloperTaskIn(Wire):
    description: Description
    completed: bool = False
    due_at: AnyTime | None = None


class DeveloperTasksIn(Wire):
    action_items: Annotated[list[DeveloperTaskIn], Field(min_length=1, max_length=MAX_TASK_BATCH)]


class DeveloperTaskChangeIn(Change):
    """`due_at: null` removes the date."""

    description: Description | None = None
    completed: bool | None = None
    due_at: AnyTime | None = None

    def to_changes(self) -> dict[str, Any]:
        sent = self.model_dump(exclude_unset=True)
        return {name: to for name, to in sent.items() if to is not None or name == "due_at"}


class TasksCreatedOut(Wire):
    action_items: list[ProgramTaskOut]
    created_count: int


# --- conversations


class DeveloperConversationsQuery(ConversationsQuery):
    limit: Annotated[int, Field(ge=1, le=100)] = 25
    include_transcript: bool = False
    folder_id: Label | None = None
    starred: bool | None = None


class TranscriptQuery(Wire):
    include_transcript: bool = False


class DeveloperConversationOut(Wire):
    id: str
    created_at: Utc
    started_at: Utc
    finished_at: Utc
    structured: StructuredOut
    language: str
    source: Source
    folder_id: str | None
    folder_name: str | None = None

    @classmethod
    def of(cls, conversation: Conversation, folders: FolderList) -> Self:
        folder_id = folders.resolve(conversation.folder_id)
        names = [folder.name for folder in folders.folders if folder.id == folder_id]
        folder = {"folder_id": folder_id, "folder_name": names[0] if names else None}
        return cls.model_validate(conversation).model_copy(update=folder)


class TranscribedConversationOut(DeveloperConversationOut):
    """A conversation whose transcript was asked for; empty where the answer had no room for it."""

    transcript_segments: list[SegmentOut]

    @classmethod
    def of(cls, conversation: Conversation, folders: FolderList) -> Self:
        described = DeveloperConversationOut.of(conversation, folders)
        segments = build_segments(conversation)
        return cls.model_construct(**dict(described), transcript_segments=segments)


class NewConversation(Wire):
    """What is known of a conversation beside its words; without times it is taken for new."""

    started_at: AnyTime | None = None
    finished_at: AnyTime | None = None
    language: Language = "en"

    def build_times(self, now: datetime, length: timedelta) -> dict[str, datetime]:
        """Complete the times that are missing: `length` is how long it took."""
        end = self.finished_at or (self.started_at + length if self.started_at else now)
        return {"started_at": self.started_at or end - length, "finished_at": end}


class DeveloperTextIn(NewConversation):
    """A text as a conversation; `text_source_spec` says more about its origin.

    An `audio_transcript` is the owner's note. Anybody may have written the others: no fact or task of theirs is the owner's.
    """

    text: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TEXT_CHARS)
    ]
    text_source: Literal["audio_transcript", "message", "other_text"] = "other_text"
    text_source_spec: Annotated[str, Field(max_length=200)] | None = None
    geolocation: GeolocationIn | None = None


class DeveloperSegmentIn(Wire):
    """A piece of speech; without `speaker`, the number `speaker_id` tells speakers apart."""

    text: str
    speaker: Label | None = None
    speaker_id: Annotated[int, Field(ge=0, le=999)] | None = None
    is_user: bool = False
    person_id: Label | None = None
    start: Seconds = 0.0
    end: Seconds = 0.0

    def to_fields(self) -> dict[str, Any]:
        fields = self.model_dump(exclude={"speaker", "speaker_id"})
        return {**fields, "speaker": self.speaker or f"SPEAKER_{self.speaker_id or 0:02}"}


SessionName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class DeveloperSegmentsIn(NewConversation):
    """A transcript as a conversation; what comes with a `client_session_id` again is the one there is."""

    transcript_segments: Annotated[
        list[DeveloperSegmentIn], Field(min_length=1, max_length=MAX_SEGMENTS)
    ]
    source: Source = "external_integration"
    geolocation: GeolocationIn | None = None
    client_session_id: SessionName | None = Field(
        default=None,
        validation_alias=AliasChoices(
            "client_session_id", "client_conversation_id", "session_id", "client_id"
        ),
    )

    @model_validator(mode="after")
    def _require_words(self) -> Self:
        if not any(segment.text.strip() for segment in self.transcript_segments):
            raise ValueError("nothing is said in the transcript")
        return self

    @property
    def length(self) -> timedelta:
        return timedelta(seconds=max(segment.end for segment in self.transcript_segments))

    @property
    def id(self) -> str | None:
        """The id that its session of the client gives it."""
        if self.client_session_id is None:
            return None
        return f"session-{sha256(self.client_session_id.encode()).hexdigest()[:32]}"


class DeveloperConversationChangeIn(Change):
    title: TitleText | None = None
    discarded: bool | None = None


class ConversationCreatedOut(Wire):
    id: str
    status: ConversationStatus
    discarded: bool = False


# --- goals


class DeveloperGoalsQuery(Wire):
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    include_inactive: bool = False
