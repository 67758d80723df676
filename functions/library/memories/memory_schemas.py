"""Schemas of memories: what their owner sends and reads; all times in UTC."""

from typing import Annotated, Any, Self

from pydantic import Field

from shared.domain.ids import UserId
from shared.domain.memories.memory import Memory
from shared.domain.provenance import TextKinds
from shared.edge.declare.common_schemas import PageQuery
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import (
    ClientId,
    Utc,
)
from shared.library.record_schemas import Content, Visibility

MAX_LISTED_MEMORIES = 5_000


class MemoriesQuery(PageQuery):
    """A page by cursor; or, for released apps, by offset: from 0 the first 5,000, whatever the limit.

    They ask once and never for the next page. Further ones are reached by cursor.
    """

    limit: Annotated[int, Field(ge=1, le=MAX_LISTED_MEMORIES)] = 100
    offset: Annotated[int | None, Field(ge=0)] = None


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

    One that was said in a chat names it, `session_id`, and the message, `message_id`. `read_kinds` are the kinds of
    text of others from which its words may come: none where they are the owner's own, null where nobody knows.
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
    read_kinds: TextKinds | None
