"""Schemas of integrations: what apps send and read, with the old product's names and without nulls."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from functions.library.memories.memory_schemas import MemoryBaseOut
from functions.library.tasks.action_item_schemas import ActionItemBaseOut
from shared.domain.conversations.conversation import Conversation, LabelledSegment
from shared.domain.ids import UserId
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import (
    AnyTime,
    ConversationBaseOut,
    Utc,
)
from shared.library.record_schemas import MAX_MEMORY_CHARS, Tags
from shared.security.visible_text import strip_invisible

MAX_FACTS = 50
MAX_TEXT_CHARS = 20_000
"""Of a text in which a model finds facts; a longer one is handed in as a conversation."""
MAX_OFFSET = 5_000
"""Skipped items are read too, so the offset is bounded."""
Text = Annotated[str, AfterValidator(strip_invisible)]
Spec = Annotated[str, Field(max_length=200)]
Day = Annotated[str, Field(max_length=40)]
Limit = Annotated[int, Field(ge=1, le=1_000)]
Offset = Annotated[int, Field(ge=0, le=MAX_OFFSET)]
MaxSegments = Annotated[int, Field(ge=-1, le=1_000)]


class OwnerQuery(Wire):
    """The owner of the library."""

    uid: UserId


class ExternalConversationIn(Wire):
    """A text that is processed like a conversation; each line is a turn of the app."""

    text: Text = ""
    text_source: Literal["audio_transcript", "message", "other_text"] = "audio_transcript"
    text_source_spec: Spec | None = None
    started_at: AnyTime | None = None
    finished_at: AnyTime | None = None
    language: Annotated[str, Field(min_length=2, max_length=16)] | None = None


class FactIn(Wire):
    """A fact in the app's words."""

    content: Annotated[
        str,
        AfterValidator(lambda text: strip_invisible(text).strip()),
        StringConstraints(min_length=1, max_length=MAX_MEMORY_CHARS),
    ]
    tags: Tags = ()


class ExternalMemoryIn(Wire):
    """Facts to store unchanged, a text to extract facts from, or both."""

    text: Annotated[Text | None, Field(max_length=MAX_TEXT_CHARS)] = None
    text_source: Literal["email", "social_post", "other"] = "other"
    text_source_spec: Spec | None = None
    memories: Annotated[list[FactIn], Field(max_length=MAX_FACTS)] | None = None

    @model_validator(mode="after")
    def _require_content(self) -> Self:
        if not (self.memories or (self.text and self.text.strip())):
            raise ValueError(
                "Either text or explicit memories(facts) are required and cannot be empty"
            )
        return self


class EmptyOut(Wire):
    """The old product answers with an empty object."""


class MemoriesQuery(OwnerQuery):
    limit: Limit = 100
    offset: Offset = 0


class ConversationsQuery(MemoriesQuery):
    """Dates are YYYY-MM-DD or ISO times. `max_transcript_segments`: -1 for all."""

    include_discarded: bool = False
    statuses: list[str] = Field(default=[], max_length=10)
    start_date: Day | None = None
    end_date: Day | None = None
    max_transcript_segments: MaxSegments = 100


class TasksQuery(MemoriesQuery):
    """Filters by creation and by due date."""

    completed: bool | None = None
    conversation_id: Annotated[str, Field(max_length=64)] | None = None
    start_date: Day | None = None
    end_date: Day | None = None
    due_start_date: Day | None = None
    due_end_date: Day | None = None


class SearchQuery(OwnerQuery):
    max_transcript_segments: MaxSegments = 100


class ExternalSearchIn(Wire):
    """Discarded conversations are not indexed, so no search finds them."""

    query: Annotated[str, Field(min_length=1, max_length=1_000)]
    page: Annotated[int, Field(ge=1, le=1_000)] = 1
    per_page: Annotated[int, Field(ge=1, le=100)] = 10
    include_discarded: bool = True
    start_date: Day | None = None
    end_date: Day | None = None


class AppMemoryOut(MemoryBaseOut):
    """A memory without its evidence, which belongs to a conversation."""

    conversation_id: str | None = None
    user_review: bool | None = None
    app_id: str | None = None
    tags: tuple[str, ...] = ()


class MemoriesOut(Wire):
    memories: list[AppMemoryOut]


class AppTaskOut(ActionItemBaseOut):
    due_at: Utc | None = None
    completed_at: Utc | None = None
    conversation_id: str | None = None


class TasksOut(Wire):
    tasks: list[AppTaskOut]


class AppSegmentOut(Wire):
    """`speaker` is SPEAKER_nn, as apps parse it; the name stands in `speaker_name`."""

    id: str
    text: str
    speaker: str
    speaker_id: int
    speaker_name: str | None = None
    is_user: bool
    person_id: str | None = None
    start: float
    end: float


class AppConversationOut(ConversationBaseOut):
    """A conversation with the beginning of its transcript."""

    app_id: str | None = None
    transcript_segments: list[AppSegmentOut]

    @classmethod
    def of(cls, conversation: Conversation, segments: Sequence[LabelledSegment] = ()) -> Self:
        summary = cls.model_validate(replace(conversation, transcript_segments=()))
        items = [AppSegmentOut.model_validate(segment) for segment in segments]
        return summary.model_copy(update={"transcript_segments": items})


class ConversationsOut(Wire):
    conversations: list[AppConversationOut]


class SearchOut(ConversationsOut):
    """Best first."""

    total_pages: int
    current_page: int
    per_page: int
