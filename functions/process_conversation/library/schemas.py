"""Schemas of the library except conversations: memories, tasks, people and account; all times in UTC."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from functions.process_conversation.library.conversation_schemas import ClientId, Label, Time, Utc
from shared.domain.conversation import CATEGORIES
from shared.domain.ids import UserId
from shared.domain.memory import Memory
from shared.edge.schemas import PageQuery, Wire

MAX_MEMORY_CHARS = 1_000
MAX_TASK_CHARS = 500

TitleText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Content = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MEMORY_CHARS)
]
Description = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TASK_CHARS)
]
Visibility = Literal["private", "public"]
QueryText = Annotated[str, Field(min_length=1, max_length=1_000)]


class ConversationChangeIn(Wire):
    """Omitted fields keep their value; the owner's changes survive every reprocessing."""

    title: TitleText | None = None
    overview: Annotated[str, Field(max_length=10_000)] | None = None
    emoji: Annotated[str, Field(min_length=1, max_length=16)] | None = None
    category: str | None = None
    starred: bool | None = None

    @model_validator(mode="after")
    def _validate_category(self) -> Self:
        if self.category is not None and self.category not in CATEGORIES:
            raise ValueError(f"category: one of {', '.join(CATEGORIES)}")
        return self


class TitleIn(Wire):
    title: TitleText


class StarredQuery(Wire):
    starred: bool


class AssignQuery(Wire):
    """The identity of a speaker: a person's id, or whether it is the owner; empty removes it."""

    assign_type: Literal["person_id", "is_user"]
    value: Annotated[str, Field(max_length=64)] | None = None


class OffsetPageQuery(PageQuery):
    """A page by cursor, or by offset for released apps: skipped items are read, so it is bounded."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    offset: Annotated[int, Field(ge=0, le=5_000)] = 0


class LibrarySearchIn(Wire):
    query: QueryText
    limit: Annotated[int, Field(ge=1, le=100)] = 20


class MemoryIn(Wire):
    """A fact in the owner's own words. The same id with the same content may be sent again."""

    id: ClientId | None = None
    content: Content
    visibility: Visibility = "private"


class MemoryMergeIn(Wire):
    """Memories to merge into one, in the owner's words."""

    ids: Annotated[list[ClientId], Field(min_length=2, max_length=30)]
    content: Content


class MemoryValueIn(Wire):
    value: Content


class VisibilityQuery(Wire):
    value: Visibility


class ReviewQuery(Wire):
    """False means that the memory is wrong: it is deleted."""

    value: bool


class MemoryBaseOut(Wire):
    """The fields of a memory that its owner and apps read."""

    id: str
    uid: str
    content: str
    category: str
    created_at: Utc
    updated_at: Utc
    visibility: str
    manually_added: bool
    edited: bool
    reviewed: bool
    is_locked: bool = False

    @classmethod
    def of(cls, uid: UserId, memory: Memory, **fields: Any) -> Self:
        """Read the other fields from the memory."""
        stored = {name: getattr(memory, name) for name in cls.model_fields if hasattr(memory, name)}
        return cls(uid=uid, **stored, **fields)


class MemoryOut(MemoryBaseOut):
    """A memory as the old app reads it."""

    conversation_id: str | None
    memory_id: str | None
    evidence: str
    segment: int | None
    mentions: int
    valid_to: Utc | None
    user_review: bool | None
    app_id: str | None


class ActionItemIn(Wire):
    """Something to do. The same id with the same description may be sent again."""

    id: ClientId | None = None
    description: Description
    completed: bool = False
    due_at: Time | None = None
    conversation_id: ClientId | None = None


class ActionItemChangeIn(Wire):
    """Omitted fields keep their value; `due_at: null` removes the date."""

    description: Description | None = None
    completed: bool | None = None
    due_at: Time | None = None


class CompletedQuery(Wire):
    completed: bool


class ActionItemBaseOut(Wire):
    """The fields of an action item that it always has."""

    id: str
    description: str
    completed: bool
    created_at: Utc
    updated_at: Utc
    is_locked: bool = False


class ActionItemOut(ActionItemBaseOut):
    due_at: Utc | None
    completed_at: Utc | None
    conversation_id: str | None


class ActionItemListOut(Wire):
    action_items: list[ActionItemOut]
    has_more: bool
    next_cursor: str | None


class ActionItemHitsOut(Wire):
    """Best first."""

    action_items: list[ActionItemOut]


class ErasureOut(Wire):
    """The state of an erasure; `documents` were deleted so far.

    `note` says for people what outlives it, and for how long.
    """

    status: Literal["none", "running", "done"]
    requested_at: Utc | None = None
    documents: int = 0
    note: str = ""


class EraseIn(Wire):
    """An erasure to complete; a sweep comes some minutes after it."""

    erasure_id: str
    is_sweep: bool


class RetentionIn(Wire):
    """A user whose old transcripts are to be deleted, and when they chose that."""

    uid: UserId
    set_at: datetime


class PersonIn(Wire):
    id: ClientId | None = None
    name: Annotated[Label, StringConstraints(strip_whitespace=True, min_length=1)]


class PersonNameIn(Wire):
    value: Annotated[Label, StringConstraints(strip_whitespace=True, min_length=1)]


class PersonOut(Wire):
    id: str
    name: str
    created_at: Utc
    updated_at: Utc
