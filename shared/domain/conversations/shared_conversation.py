"""Shared conversation: the link by which anyone may read one conversation."""

from datetime import datetime

from shared.domain.ids import ConversationId, UserId
from shared.domain.value import value


@value
class SharedConversation:
    """A link. `id` is the secret token in it, 128 random bits; who knows it may read."""

    id: str
    uid: UserId
    conversation_id: ConversationId
    created_at: datetime
