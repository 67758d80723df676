"""Which earlier messages a turn sees, and which are summarised after it."""

import json
from collections.abc import Sequence

from shared import prompts
from shared.domain.chat import Message, Session
from shared.domain.model import AssistantTurn, ModelMessage, UserText
from shared.domain.text import count_tokens

KEPT = 10
"""At least so many of the last messages stay verbatim (where there are as many)."""
STEP = 20
"""At most so many are summarised at once."""
FULL = KEPT + STEP
"""So many may stand verbatim: one more, and a step is due."""
READ = FULL + KEPT
"""So many are read for a turn: what is not summarised yet, and room for a summary that is late."""
BUDGET_TOKENS = 16_000
"""What the verbatim messages may weigh before a step is due early."""


def window(newest_first: Sequence[Message], session: Session) -> list[Message]:
    """Return what the summary does not cover, oldest first, of the READ newest messages.

    It begins where the summary ends, so it grows and is cut in steps: sliding message by message
    would change the prompt's prefix each turn and lose the provider's cache. Where the summary is
    late, and what waits for it is too much, the window is cut in steps all the same.
    """
    fresh = [message for message in reversed(newest_first) if not session.covers(message)]
    if len(fresh) == READ:  # the summary's end is out of sight: count from the first message
        fresh = fresh[(READ - session.message_count) % STEP :]
    while _is_heavy(fresh, 2 * BUDGET_TOKENS):
        fresh = fresh[KEPT:]
    return fresh


def due(fresh: Sequence[Message]) -> Sequence[Message]:
    """Return what to summarise now of the messages, oldest first, that no summary covers."""
    if len(fresh) <= FULL and not _is_heavy(fresh, BUDGET_TOKENS):
        return ()
    return fresh[: min(STEP, len(fresh) - KEPT)]


def _is_heavy(fresh: Sequence[Message], budget: int) -> bool:
    """Tell whether a cut is worth its cost: of fewer than KEPT messages, every turn would cut."""
    return len(fresh) >= 2 * KEPT and sum(count_tokens(m.text) for m in fresh) > budget


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
