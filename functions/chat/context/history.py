"""Which earlier messages a turn sees."""

from collections.abc import Sequence

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
    return [
        UserText(text=m.text) if m.sender == "human" else AssistantTurn(text=m.text)
        for m in messages
    ]
