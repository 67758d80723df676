"""Schemas of action items: what their owner sends and reads; all times in UTC."""

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, RootModel, StringConstraints

from functions.library.schemas import OffsetPageQuery
from shared.data.tasks.action_items import ActionItemFilter
from shared.domain.ids import ConversationId
from shared.domain.provenance import TextKinds
from shared.domain.tasks.action_item import MAX_INDENT_LEVEL, TaskOwner
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import (
    AnyTime,
    Label,
    Time,
    Utc,
)
from shared.library.record_schemas import ActionItemIn, Description

MAX_BATCH = 500
"""Tasks that one request changes: what a transaction may write."""
MAX_ADDED = 50
MAX_PLACES_BYTES = 262_144
MAX_BATCH_BYTES = 2_097_152
MAX_SORT_ORDER = 1_000_000_000_000
CLEARABLE = frozenset(
    {"owner_name", "due_at", "export_date", "export_platform", "apple_reminder_id"}
)


def _none_if_empty(value: object) -> object:
    return None if value == "" else value


OwnerFilter = Literal["me", "other", "unknown", "others", "all"]
OwnerName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
TaskId = Annotated[str, Field(max_length=64)]
SortOrder = Annotated[int, Field(ge=-MAX_SORT_ORDER, le=MAX_SORT_ORDER)]
IndentLevel = Annotated[int, Field(ge=0, le=MAX_INDENT_LEVEL)]


def list_owners(owner: OwnerFilter) -> tuple[TaskOwner, ...]:
    """Return whose tasks a filter means; `others` are all that are not known to be the user's."""
    match owner:
        case "all":
            return get_args(TaskOwner)
        case "others":
            return ("other", "unknown")
        case _:
            return (owner,)


class ActionItemsQuery(OffsetPageQuery):
    """A page of the tasks that match; both dates are included, and mean when a task was created.

    Released apps name no `owner` and list what the user has to do.
    """

    completed: bool | None = None
    include_completed: bool = True
    conversation_id: Annotated[Label | None, BeforeValidator(_none_if_empty)] = None
    start_date: AnyTime | None = None
    end_date: AnyTime | None = None
    owner: OwnerFilter = "me"

    def to_filter(self) -> ActionItemFilter:
        hides_completed = self.completed is None and not self.include_completed
        return ActionItemFilter(
            completed=False if hides_completed else self.completed,
            conversation_id=ConversationId(self.conversation_id) if self.conversation_id else None,
            start=self.start_date,
            end=self.end_date,
        )


class ActionItemContentIn(Wire):
    """What a task says. Omitted fields keep their value; `due_at: null` removes the date.

    A name makes somebody else the owner; only they have one.
    """

    description: Description | None = None
    completed: bool | None = None
    due_at: Time | None = None
    owner: TaskOwner | None = None
    owner_name: OwnerName | None = None

    def to_changes(self) -> dict[str, Any]:
        sent = self.model_dump(exclude_unset=True, exclude={"id"})
        changes = {name: to for name, to in sent.items() if to is not None or name in CLEARABLE}
        if self.owner_name is not None and self.owner is None:
            changes["owner"] = "other"
        if self.owner in ("me", "unknown"):
            changes["owner_name"] = None
        return changes


class ActionItemChangeIn(ActionItemContentIn):
    """Omitted fields keep their value; null removes a date and what names an export."""

    exported: bool | None = None
    export_date: AnyTime | None = None
    export_platform: Label | None = None
    apple_reminder_id: Annotated[str, Field(max_length=200)] | None = None
    sort_order: SortOrder | None = None
    indent_level: IndentLevel | None = None


class ActionItemPlaceIn(Wire):
    """The place of a task in its owner's order; an omitted field keeps its value."""

    id: TaskId
    sort_order: SortOrder | None = None
    indent_level: IndentLevel | None = None

    def to_changes(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True, exclude={"id"})


class ActionItemPlacesIn(Wire):
    items: Annotated[list[ActionItemPlaceIn], Field(max_length=MAX_BATCH)]


class ActionItemSyncIn(ActionItemChangeIn):
    id: TaskId


class ActionItemSyncsIn(Wire):
    """What a phone changed of tasks: in its reminder app, or by exporting them there."""

    items: Annotated[list[ActionItemSyncIn], Field(max_length=MAX_BATCH)]


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
    """A task as its owner reads it.

    `read_kinds` are the kinds of text of others from which its words may come: none where they are the owner's own,
    null where nobody knows.
    """

    due_at: Utc | None
    completed_at: Utc | None
    conversation_id: str | None
    exported: bool
    export_date: Utc | None
    export_platform: str | None
    apple_reminder_id: str | None
    sort_order: int
    indent_level: int
    owner: TaskOwner
    owner_name: str | None
    read_kinds: TextKinds | None


class ActionItemListOut(Wire):
    """A page; `total`: how many there are in all, where more follow."""

    action_items: list[ActionItemOut]
    has_more: bool
    next_cursor: str | None
    total: int | None


class ActionItemHitsOut(Wire):
    """Best first; `has_more` where others match, or older ones were not looked through."""

    action_items: list[ActionItemOut]
    has_more: bool


class ActionItemsIn(
    RootModel[Annotated[list[ActionItemIn], Field(min_length=1, max_length=MAX_ADDED)]]
):
    """Tasks as a bare list."""


class ActionItemsAddedOut(Wire):
    action_items: list[ActionItemOut]
    created_count: int


class ActionItemsChangedOut(Wire):
    """How many of the tasks in a request exist, and are now as it says."""

    status: Literal["ok"] = "ok"
    updated_count: int
