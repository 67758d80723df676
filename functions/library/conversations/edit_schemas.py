"""Schemas of edits: what an owner changes in a conversation."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from functions.library.schemas import TitleText
from shared.domain.conversations.conversation import CATEGORIES
from shared.domain.ids import AppId
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import (
    MAX_SEGMENTS,
    EmptyAsNone,
    Label,
)
from shared.library.record_schemas import Description

MAX_ITEMS = 100
"""More than a conversation has."""
Place = Annotated[int, Field(ge=0, lt=10_000)]
OldWords = Annotated[str, StringConstraints(max_length=2_000)]


class ItemStatesIn(Wire):
    """For each place in the conversation's list of action items whether it is completed."""

    items_idx: Annotated[list[Place], Field(min_length=1, max_length=MAX_ITEMS)]
    values: Annotated[list[bool], Field(min_length=1, max_length=MAX_ITEMS)]

    @model_validator(mode="after")
    def _have_one_length(self) -> Self:
        if len(self.items_idx) != len(self.values):
            raise ValueError("there must be one value for each of the items")
        return self

    @property
    def by_place(self) -> Mapping[int, bool]:
        return dict(zip(self.items_idx, self.values, strict=True))


class ItemDescriptionIn(Wire):
    """New words for the action item that has the old ones."""

    old_description: OldWords
    description: Description


class ItemDeletionIn(Wire):
    """The words of the action item to delete; of two with the same words, one in this state."""

    description: OldWords
    completed: bool = False


class SegmentTextIn(Wire):
    """Other words for one segment."""

    segment_id: Label
    text: Annotated[str, Field(min_length=1)]


class AssignmentIn(Wire):
    """Who spoke the segments: `is_user` with true or false, or `person_id` with a person's id or null."""

    segment_ids: Annotated[list[Label], Field(min_length=1, max_length=MAX_SEGMENTS)]
    assign_type: Literal["is_user", "person_id"]
    value: Label | None = None


class ConversationChangeIn(Wire):
    """Omitted fields keep their value; the owner's changes survive every reprocessing.

    `discarded` false takes back a conversation that was discarded.
    """

    title: TitleText | None = None
    overview: Annotated[str, Field(max_length=10_000)] | None = None
    emoji: Annotated[str, Field(min_length=1, max_length=16)] | None = None
    category: str | None = None
    starred: bool | None = None
    discarded: bool | None = None

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
