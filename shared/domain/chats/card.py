"""Cards: conversations as answers cite them, and what became of them since."""

from collections.abc import Mapping, Sequence
from typing import Literal

from shared.domain.chats.chat import Card
from shared.domain.conversations.conversation import Conversation, hash_words
from shared.domain.ids import ConversationId

CardState = Literal["changed", "gone"]
"""Its words are others since the answer was written, or it was deleted or merged into another."""


def build_card(conversation: Conversation) -> Card:
    return Card(
        id=conversation.id,
        created_at=conversation.created_at,
        title=conversation.structured.title,
        emoji=conversation.structured.emoji,
        words_hash=hash_words(conversation),
    )


def find_states(
    cards: Sequence[Card], stored: Mapping[ConversationId, Conversation]
) -> dict[ConversationId, CardState]:
    """Return the states of conversations that are not as they were cited; parts need not be loaded.

    A new title, and other names of who spoke, change nothing that an answer rests on.
    """
    states: dict[ConversationId, CardState] = {}
    for card in cards:
        conversation = stored.get(card.id)
        if conversation is None or conversation.merged_into:
            states[card.id] = "gone"
        elif card.words_hash is not None and card.words_hash != hash_words(conversation):
            states[card.id] = "changed"
    return states
