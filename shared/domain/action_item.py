"""Action item: something the owner wants done."""

from dataclasses import replace
from datetime import datetime
from typing import Self

from shared.domain.ids import ActionItemId, ConversationId
from shared.domain.value import value
from shared.domain.words import build_wording


@value
class ActionItem:
    """All times in UTC. `wording` is set when it is written: tasks in the same words share it."""

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

    def with_wording(self) -> Self:
        """Return it as it is stored: findable by its words."""
        return replace(self, wording=build_wording(self.description))

    @property
    def is_user_owned(self) -> bool:
        """Whether the owner changed or completed it: processing does not touch it then."""
        return self.edited or self.completed
