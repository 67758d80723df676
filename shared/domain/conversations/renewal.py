"""Renewal: texts that models wrote about conversations are written anew after somebody got another name."""

from datetime import datetime

from shared.domain.conversations.conversation import Conversation
from shared.domain.value import value


@value
class Renewal:
    """The renewal of all conversations of a `subject`: a person's id, or OWN_NAMES. Times in UTC.

    `done` of `total` conversations were looked at, up to `cursor`. The sweep has it go on at `due_at`; None: the owner
    is being marked by their own names, page by page, and what changed is read again after that.
    """

    subject: str
    requested_at: datetime
    due_at: datetime | None = None
    total: int = 0
    done: int = 0
    cursor: str | None = None

    def concerns(self, conversation: Conversation) -> bool:
        """Tell whether what models wrote of a conversation is older than the new name."""
        if (
            conversation.discarded
            or conversation.merged_into
            or conversation.has_deleted_transcript
        ):
            return False
        if self.subject == OWN_NAMES:
            return conversation.status == "completed" and conversation.is_marked_since
        processed_at = conversation.processed_at
        is_older = processed_at is None or processed_at < self.requested_at
        return conversation.status == "completed" and is_older


OWN_NAMES = "own.names"
"""The subject of the owner's own names: not a person's id, as it has a dot."""
