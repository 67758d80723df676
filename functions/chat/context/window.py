"""Window of a chat: the messages that a turn reads, and those that a summary replaces.

Also called: sliding window.
"""

from collections.abc import Sequence
from itertools import islice

from shared.domain.chats.chat import Message, Session
from shared.domain.models.tokens import estimate_tokens

MIN_VERBATIM = 10
"""This many of the last messages are never summarised."""
SUMMARY_BATCH = 20
"""Maximum of messages that one summary call adds."""
MAX_VERBATIM = MIN_VERBATIM + SUMMARY_BATCH
"""Maximum of messages that stay verbatim; one more makes a summary due."""
MAX_READ = MAX_VERBATIM + MIN_VERBATIM
"""Messages read for a turn: the verbatim ones, and some more in case a summary is late."""
MAX_OWNER_MESSAGES = 3
MAX_EXCHANGE = 8
"""Messages that are read before a question, to judge it."""
"""Earlier messages of the owner that a question is read with."""
VERBATIM_BUDGET_TOKENS = 16_000
"""Size of the verbatim messages that makes a summary due early."""


def select_window(newest_first: Sequence[Message], session: Session) -> list[Message]:
    """Return the messages that the summary does not cover, oldest first.

    `newest_first` holds at most MAX_READ messages. The window begins where the summary ends and is
    shortened in steps, because a window that slides message by message would change the prompt's
    prefix every turn and lose the provider's cache. While a summary is late, a window that is too
    large is shortened in steps as well.
    """
    unsummarised = _list_unsummarised(newest_first, session)
    if len(unsummarised) == MAX_READ:  # the summary may end earlier: count from the first message
        unsummarised = unsummarised[(MAX_READ - session.message_count) % SUMMARY_BATCH :]
    while _is_heavy(unsummarised, 2 * VERBATIM_BUDGET_TOKENS):
        unsummarised = unsummarised[MIN_VERBATIM:]
    return unsummarised


def is_summary_due(newest_first: Sequence[Message], session: Session) -> bool:
    """Tell whether messages are to be summarised now, of which these are the newest MAX_VERBATIM + 1."""
    return bool(select_for_summary(_list_unsummarised(newest_first, session)))


def select_for_summary(unsummarised: Sequence[Message]) -> Sequence[Message]:
    """Return the messages to summarise now, of those that no summary covers, oldest first."""
    if len(unsummarised) <= MAX_VERBATIM and not _is_heavy(unsummarised, VERBATIM_BUDGET_TOKENS):
        return ()
    return unsummarised[: min(SUMMARY_BATCH, len(unsummarised) - MIN_VERBATIM)]


def _list_unsummarised(newest_first: Sequence[Message], session: Session) -> list[Message]:
    return [message for message in reversed(newest_first) if not session.is_summarised(message)]


def _is_heavy(messages: Sequence[Message], budget_tokens: int) -> bool:
    """Tell whether messages are too large; never with few of them, else every turn would cut."""
    return (
        len(messages) >= 2 * MIN_VERBATIM
        and sum(estimate_tokens(m.text) for m in messages) > budget_tokens
    )


def list_owner_texts(newest_first: Sequence[Message]) -> list[str]:
    """Return the latest messages of the owner before a question."""
    return [message.text for message in select_owner_messages(newest_first)]


def list_exchange(newest_first: Sequence[Message]) -> list[str]:
    """Return the latest messages before a question, the oldest first, with who wrote them."""
    latest = reversed(newest_first[:MAX_EXCHANGE])
    return [f"{'owner' if m.is_owners else 'assistant'}: {m.text}" for m in latest]


def select_owner_messages(newest_first: Sequence[Message]) -> list[Message]:
    return list(islice((m for m in newest_first if m.is_owners), MAX_OWNER_MESSAGES))
