"""Which earlier messages a turn sees."""

import json
from collections.abc import Sequence

from shared import prompts
from shared.domain.chat import Message
from shared.domain.model import AssistantTurn, ModelMessage, UserText

KEPT = 10
"""At least so many of the last messages stay verbatim (where there are as many)."""
READ = 2 * KEPT


def window(newest_first: Sequence[Message], stored: int) -> list[Message]:
    """Return the newest messages, oldest first.

    The window's beginning moves in steps of KEPT, never message by message: a sliding window would
    change the prompt's prefix each turn and lose the provider's cache. `stored` is how many
    messages the session holds.
    """
    keep = KEPT + stored % KEPT if stored >= READ else READ
    return list(reversed(newest_first[:keep]))


def replay(messages: Sequence[Message]) -> list[ModelMessage]:
    """Return earlier messages as the model reads them."""
    return [_replayed(message) for message in messages]


def _replayed(message: Message) -> ModelMessage:
    """An app's notification is nobody's turn: in our own voice, its words would count as ours."""
    if message.from_integration:
        text = json.dumps(message.text, ensure_ascii=False)
        return UserText(text=prompts.render("chat/notification", text=text))
    if message.sender == "human":
        return UserText(text=message.text)
    return AssistantTurn(text=message.text)
