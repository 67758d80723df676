"""An action item: something the owner wants done."""

from datetime import datetime

from shared.domain.ids import ActionItemId, ConversationId
from shared.domain.value import value
from shared.domain.words import MAX_WORDING_CHARS, normalise


@value
class ActionItem:
    """All times in UTC. `wording` follows the description: tasks in the same words share it."""

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "wording", normalise(self.description)[:MAX_WORDING_CHARS])

    @property
    def is_user_owned(self) -> bool:
        """Whether the owner changed or completed it: processing then leaves it alone."""
        return self.edited or self.completed
