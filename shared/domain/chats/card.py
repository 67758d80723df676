"""Cards: conversations as answers cite them, and what became of them since."""

from collections.abc import Mapping
from typing import Literal

from shared.domain.chats.chat import Card, Message
from shared.domain.conversations.conversation import Conversation, hash_words
from shared.domain.ids import ConversationId, is_id

CardState = Literal["changed", "gone"]
"""Its words are others since the answer was written, or it was deleted or merged into another."""

MAX_CHECKED = 20
"""Cards of one answer. No model cites so many; a message that came with a file may have any."""


def build_card(conversation: Conversation) -> Card:
    return Card(
        id=conversation.id,
        created_at=conversation.created_at,
        title=conversation.structured.title,
        emoji=conversation.structured.emoji,
        words_hash=hash_words(conversation),
    )


def list_checked(answer: Message) -> list[Card]:
    """Return the cards whose conversations may be looked up."""
    return [card for card in answer.cards[:MAX_CHECKED] if is_id(card.id)]


def find_states(
    answer: Message, stored: Mapping[ConversationId, Conversation]
) -> dict[ConversationId, CardState]:
    """Return the states of conversations that are not as they were cited; parts need not be loaded.

    A new title, and other names of who spoke, change nothing that an answer rests on.
    """
    states: dict[ConversationId, CardState] = {}
    for card in list_checked(answer):
        conversation = stored.get(card.id)
        if conversation is None or conversation.merged_into:
            states[card.id] = "gone"
        elif card.words_hash is not None and card.words_hash != hash_words(conversation):
            states[card.id] = "changed"
    return states
