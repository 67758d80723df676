"""Urgency of a conversation: whether anybody waits for what is made of it; pure."""

from datetime import datetime, timedelta

from shared.domain.conversations.conversation import Conversation
from shared.domain.models.model import Urgency

NEW_FOR = timedelta(hours=1)
"""So long after a recording came in its owner may look for it."""


def choose_urgency(conversation: Conversation, now: datetime) -> Urgency:
    """Return later for what was imported or processed before, came in earlier, or is long over.

    Our clock and the way it came in decide. What a client says of its end can only make it later.
    """
    arrived_at = conversation.waiting_since or conversation.listed_at or now
    is_new = now - min(arrived_at, conversation.finished_at) < NEW_FOR
    is_known = conversation.is_imported or bool(conversation.processed_hash)
    return "soon" if is_new and not is_known else "later"
