"""Schemas of merges."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field

from shared.domain.conversations.merge import Merge
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import Label, Utc

MAX_SOURCES = 20


def _validate_distinct(ids: list[str]) -> list[str]:
    if len(set(ids)) < len(ids):
        raise ValueError("must name each conversation once")
    return ids


class MergeIn(Wire):
    """The conversations to merge. The result is always processed, whatever `reprocess` says."""

    conversation_ids: Annotated[
        list[Label], Field(min_length=2, max_length=MAX_SOURCES), AfterValidator(_validate_distinct)
    ]
    reprocess: bool = True


class MergeOut(Wire):
    """A merge. `conversation_ids` are its sources; `warning` is for people, null without one."""

    status: Literal["merging", "undone"]
    message: str
    warning: str | None = None
    conversation_ids: list[str]
    merged_conversation_id: str
    can_be_undone_until: Utc | None

    @classmethod
    def of(cls, merge: Merge) -> Self:
        return cls(
            status="merging",
            message=f"{len(merge.source_ids)} conversations become one.",
            conversation_ids=[*merge.source_ids],
            merged_conversation_id=merge.id,
            can_be_undone_until=merge.expires_at,
        )
