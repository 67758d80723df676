"""Which earlier messages a turn sees, and which are summarised after it."""

import json
from collections.abc import Sequence

from functions.chat.context.tokens import estimate_tokens
from shared import prompts
from shared.domain.chat import Message, Session
from shared.domain.model import AssistantTurn, ModelMessage, UserText

MIN_VERBATIM = 10
"""At least so many of the last messages stay verbatim (where there are as many)."""
SUMMARY_BATCH = 20
"""At most so many are summarised at once."""
MAX_VERBATIM = MIN_VERBATIM + SUMMARY_BATCH
"""So many may stand verbatim: one more, and a step is due."""
MAX_READ = MAX_VERBATIM + MIN_VERBATIM
"""So many are read for a turn: what is not summarised yet, and room for a summary that is late."""
VERBATIM_BUDGET_TOKENS = 16_000
"""What the verbatim messages may weigh before a step is due early."""


def select_window(newest_first: Sequence[Message], session: Session) -> list[Message]:
    """Return what the summary does not cover, oldest first, of the READ newest messages.

    It begins where the summary ends, so it grows and is cut in steps: sliding message by message
    would change the prompt's prefix each turn and lose the provider's cache. Where the summary is
    late, and what waits for it is too much, the window is cut in steps all the same.
    """
    unsummarised = [
        message for message in reversed(newest_first) if not session.is_summarised(message)
    ]
    if (
        len(unsummarised) == MAX_READ
    ):  # the summary's end is out of sight: count from the first message
        unsummarised = unsummarised[(MAX_READ - session.message_count) % SUMMARY_BATCH :]
    while _is_heavy(unsummarised, 2 * VERBATIM_BUDGET_TOKENS):
        unsummarised = unsummarised[MIN_VERBATIM:]
    return unsummarised


def select_for_summary(unsummarised: Sequence[Message]) -> Sequence[Message]:
    """Return what to summarise now of the messages, oldest first, that no summary covers."""
    if len(unsummarised) <= MAX_VERBATIM and not _is_heavy(unsummarised, VERBATIM_BUDGET_TOKENS):
        return ()
    return unsummarised[: min(SUMMARY_BATCH, len(unsummarised) - MIN_VERBATIM)]


def _is_heavy(messages: Sequence[Message], budget_tokens: int) -> bool:
    """Tell whether a cut is worth its cost: of fewer than KEPT messages, every turn would cut."""
    return (
        len(messages) >= 2 * MIN_VERBATIM
        and sum(estimate_tokens(m.text) for m in messages) > budget_tokens
    )


def to_model_messages(messages: Sequence[Message]) -> list[ModelMessage]:
    """Return earlier messages as the model reads them."""
    return [_to_model_message(message) for message in messages]


def _to_model_message(message: Message) -> ModelMessage:
    """An app's notification is nobody's turn: in our own voice, its words would count as ours."""
    if message.from_integration:
        text = json.dumps(message.text, ensure_ascii=False)
        return UserText(text=prompts.render("chat/notification", text=text))
    if message.sender == "human":
        return UserText(text=message.text)
    return AssistantTurn(text=message.text)
