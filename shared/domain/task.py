"""An action item: something the owner wants done."""

from datetime import datetime

from shared.domain.ids import ActionItemId, ConversationId
from shared.domain.value import value


@value
class ActionItem:
    """All times in UTC."""

    id: ActionItemId
    description: str
    created_at: datetime
    updated_at: datetime
    completed: bool = False
    due_at: datetime | None = None
    completed_at: datetime | None = None
    conversation_id: ConversationId | None = None
    edited: bool = False

    @property
    def is_owners(self) -> bool:
        """Whether the owner changed or completed it: processing then leaves it alone."""
        return self.edited or self.completed
