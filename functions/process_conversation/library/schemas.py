"""Schemas of the library except conversations: memories, people and account; all times in UTC."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from functions.process_conversation.library.conversation_schemas import (
    ClientId,
    EmptyAsNone,
    Label,
    Utc,
)
from shared.domain.conversation import CATEGORIES
from shared.domain.ids import AppId, UserId
from shared.domain.memory import Memory, MemoryCategory
from shared.edge.declare.common_schemas import PageQuery
from shared.edge.declare.schemas import Wire

MAX_MEMORY_CHARS = 1_000
MAX_LISTED_MEMORIES = 5_000

TitleText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Content = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MEMORY_CHARS)
]
Visibility = Literal["private", "public"]
LEGACY_CATEGORIES = frozenset(
    {
        "core", "hobbies", "lifestyle", "interests", "habits", "work", "skills", "learnings",
        "other", "auto",
    }
)  # fmt: skip
QueryText = Annotated[str, Field(min_length=1, max_length=1_000)]
Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=20)]


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
            raise ValueError(f"the category must be one of {', '.join(CATEGORIES)}")
        return self


class TitleIn(Wire):
    title: TitleText


class StarredQuery(Wire):
    starred: bool


class ReprocessQuery(Wire):
    """The summary app whose text is shown first, and the language; what is empty stays as it is."""

    app_id: Annotated[Annotated[AppId, Field(max_length=64)] | None, EmptyAsNone] = None
    language_code: Annotated[
        Annotated[str, Field(min_length=2, max_length=16)] | None, EmptyAsNone
    ] = None


class AssignQuery(Wire):
    """The identity of a speaker: a person's id, or whether it is the owner; empty removes it.

    With `keep_name`, a speaker who is the owner is so by their name in all conversations, also later.
    """

    assign_type: Literal["person_id", "is_user"]
    value: Annotated[str, Field(max_length=64)] | None = None
    keep_name: bool = False


class OffsetPageQuery(PageQuery):
    """A page by cursor, or by offset for released apps: skipped items are read, so it is bounded."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    offset: Annotated[int, Field(ge=0, le=5_000)] = 0


class MemoriesQuery(PageQuery):
    """A page by cursor; or, for released apps, by offset: from 0 the first 5,000, whatever the limit.

    They ask once and never for the next page. Further ones are reached by cursor.
    """

    limit: Annotated[int, Field(ge=1, le=MAX_LISTED_MEMORIES)] = 100
    offset: Annotated[int | None, Field(ge=0)] = None


class PeopleQuery(OffsetPageQuery):
    """Released apps ask without a limit, once, for all people."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 1_000


class LibrarySearchIn(Wire):
    query: QueryText
    limit: Annotated[int, Field(ge=1, le=100)] = 20


def parse_category(name: object) -> object:
    """Read the names of older clients as system, as released apps show them."""
    if name is None or name == "":
        return "manual"
    return "system" if isinstance(name, str) and name in LEGACY_CATEGORIES else name


class MemoryIn(Wire):
    """A fact in the owner's own words. The same id with the same content may be sent again."""

    id: ClientId | None = None
    content: Content
    visibility: Visibility = "private"
    category: Annotated[MemoryCategory, BeforeValidator(parse_category)] = "manual"
    tags: Tags = ()


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
    """A memory as the old app reads it; `said_to_owner` is its content for people: "You live in Bonn".

    One that was said in a chat names it, `session_id`, and the message, `message_id`.
    """

    said_to_owner: str
    conversation_id: str | None
    memory_id: str | None
    evidence: str
    segment: int | None
    mentions: int
    tags: tuple[str, ...]
    valid_to: Utc | None
    user_review: bool | None
    app_id: str | None
    session_id: str | None
    message_id: str | None


class ExportQuery(Wire):
    """Without a format, the header Accept decides."""

    format: Literal["json", "zip"] | None = None


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


class MarkOwnerIn(Wire):
    """A user who changed their own names, when, and where the next page of conversations begins."""

    uid: UserId
    set_at: datetime
    cursor: str | None = None


class PersonIn(Wire):
    id: ClientId | None = None
    name: Annotated[Label, StringConstraints(strip_whitespace=True, min_length=1)]


class PersonNameIn(Wire):
    value: Annotated[Label, StringConstraints(strip_whitespace=True, min_length=1)]


class PersonOut(Wire):
    """A person; released apps also read samples of their voice, of which none are stored."""

    id: str
    name: str
    created_at: Utc
    updated_at: Utc
    speech_samples: list[str] = Field(default_factory=list)
    speech_sample_transcripts: list[str] = Field(default_factory=list)
    speech_samples_version: int = 1
