"""Urgency of a conversation: whether anybody waits for what is made of it; pure."""

from datetime import datetime, timedelta

from shared.domain.conversation import Conversation
from shared.domain.model import Urgency

NEW_FOR = timedelta(hours=1)
"""So long after its end its owner may look for a conversation; older ones are imported."""


def choose_urgency(conversation: Conversation, now: datetime) -> Urgency:
    """Return later for one that was processed before, or is long over."""
    is_new = now - conversation.finished_at < NEW_FOR
    return "soon" if is_new and not conversation.processed_hash else "later"
