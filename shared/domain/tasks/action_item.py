"""Action item: something to do, and whose it is."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, Self

from shared.domain.ids import ActionItemId, ConversationId
from shared.domain.provenance import TextKinds
from shared.domain.value import value
from shared.domain.words import build_wording

CONTENT_FIELDS = frozenset({"description", "completed", "due_at", "owner", "owner_name"})
"""What a task says; all else is where it stands: in a list, or on a phone."""
MAX_INDENT_LEVEL = 3
TaskOwner = Literal["me", "other", "unknown"]
"""Who has to do it: the user, somebody else, or nobody knows whether it is the user."""


@value
class ActionItem:
    """All times in UTC. `wording` is set when it is written: tasks in the same words share it.

    `exported` tasks stand in a reminder app of the owner's phone as well, named by `export_platform`;
    `apple_reminder_id` is the reminder there. `sort_order` and `indent_level` (0 to 3) are the
    owner's order of the list. `updated_at` is when its content changed. `owner` is whose task it is,
    and `owner_name` their name if it is somebody else's and known. `read_kinds` are the kinds of text of others
    from which its words may come: none where they are the owner's own, None where nobody knows.
    """

    id: ActionItemId
    description: str
    created_at: datetime
    updated_at: datetime
    completed: bool = False
    due_at: datetime | None = None
    completed_at: datetime | None = None
    conversation_id: ConversationId | None = None
    edited: bool = False
    wording: str = ""
    exported: bool = False
    export_date: datetime | None = None
    export_platform: str | None = None
    apple_reminder_id: str | None = None
    sort_order: int = 0
    indent_level: int = 0
    owner: TaskOwner = "me"
    owner_name: str | None = None
    read_kinds: TextKinds | None = None

    def change(self, changes: Mapping[str, Any], now: datetime, read_kinds: TextKinds = ()) -> Self:
        """Return it with fields changed for its owner; new words may come from `read_kinds`.

        Completing a task sets `completed_at` and reopening clears it; doing either twice keeps the time.
        """
        changed = replace(self, **changes)
        if not changes.keys() & CONTENT_FIELDS:
            return changed
        completed_at = self.completed_at if self.completed else now
        return replace(
            changed,
            read_kinds=read_kinds if changed.description != self.description else self.read_kinds,
            completed_at=completed_at if changed.completed else None,
            updated_at=now,
            edited=True,
        )

    def with_place_of(self, stored: Self) -> Self:
        """Return it where another version of it stands: in the owner's order, and on their phone."""
        names = (
            "exported",
            "export_date",
            "export_platform",
            "apple_reminder_id",
            "sort_order",
            "indent_level",
        )
        return replace(self, **{name: getattr(stored, name) for name in names})

    def with_wording(self) -> Self:
        """Return it as it is stored: findable by its words."""
        return replace(self, wording=build_wording(self.description))

    @property
    def is_user_owned(self) -> bool:
        """Whether the owner changed or completed it: processing does not touch it then."""
        return self.edited or self.completed
