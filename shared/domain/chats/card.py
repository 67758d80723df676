"""Cards: conversations as answers cite them."""

from shared.domain.chats.chat import Card
from shared.domain.conversations.conversation import Conversation, hash_words


def build_card(conversation: Conversation) -> Card:
    return Card(
        id=conversation.id,
        created_at=conversation.created_at,
        title=conversation.structured.title,
        emoji=conversation.structured.emoji,
        words_hash=hash_words(conversation),
    )
