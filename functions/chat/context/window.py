"""Window of a chat: the messages that a turn reads, and those that a summary replaces; pure.

The window of the model that answers says how many they are.

Also called: sliding window.
"""

from collections.abc import Sequence
from itertools import accumulate, islice, takewhile

from functions.chat.context.blocks import MESSAGE_TOKENS
from functions.chat.context.budget import compute_budget
from shared.domain.chats.chat import Message, Session
from shared.domain.chats.steps import CallStep
from shared.domain.models.tokens import estimate_tokens
from shared.domain.value import value

MIN_VERBATIM = 10
"""This many of the last messages are never summarised."""
MAX_OWNER_MESSAGES = 3
"""Earlier messages of the owner that a question is read with."""
MAX_EXCHANGE = 8
"""Messages that are read before a question, to judge it."""
_SHARE = 2
"""The chat gets this part of what messages may have in a window."""
_TOKENS_PER_MESSAGE = 320
"""More than most have, so that hardly more is read than fits."""
_LEAST_READ, _MOST_READ = 36, 160
"""Messages: the first word waits for what is read, and each question pays for it."""
_CALL_TOKENS = 20
"""Of a call beside its arguments and its summary, with the sentence in the place of its result."""


@value
class HistoryRoom:
    """What a window holds of a chat: so many `messages`, of so many `tokens` together.

    More than three quarters of either make a summary due, which leaves about one quarter: the more it takes at
    once, the longer the prompt's beginning stays the same, which a provider's cache needs.
    """

    messages: int
    tokens: int

    @property
    def max_verbatim(self) -> int:
        """Return the messages that stay verbatim; one more makes a summary due."""
        return self.messages * 3 // 4

    @property
    def max_verbatim_tokens(self) -> int:
        return self.tokens * 3 // 4

    @property
    def batch(self) -> int:
        """Return how many messages are summarised at once, at most."""
        return self.messages // 2


def compute_room(window_tokens: int) -> HistoryRoom:
    """Return what a window of so many tokens holds of a chat."""
    share = max(compute_budget(window_tokens, ()) // _SHARE, 0)
    tokens = min(share, _MOST_READ * _TOKENS_PER_MESSAGE)
    messages = tokens // _TOKENS_PER_MESSAGE // 4 * 4
    return HistoryRoom(messages=min(max(messages, _LEAST_READ), _MOST_READ), tokens=tokens)


def select_window(
    newest_first: Sequence[Message], session: Session, room: HistoryRoom
) -> list[Message]:
    """Return the messages that the summary does not cover, oldest first.

    `newest_first` are at most as many as there is room for. The window begins where the summary ends. While
    that is late, it is shortened in steps, because a window that slides message by message would change the
    prompt's prefix every turn and lose the provider's cache.
    """
    unsummarised = _list_unsummarised(newest_first, session)
    is_late = len(unsummarised) == room.messages
    if is_late:  # the summary may end earlier: count from the first message
        unsummarised = unsummarised[(room.messages - session.message_count) % room.batch :]
    while _is_heavy(unsummarised, room.tokens):
        unsummarised = unsummarised[MIN_VERBATIM:]
    return unsummarised


def is_summary_due(newest_first: Sequence[Message], session: Session, room: HistoryRoom) -> bool:
    """Tell whether messages are to be summarised, of which these are the newest for which there is room."""
    return bool(select_for_summary(_list_unsummarised(newest_first, session), room))


def select_for_summary(unsummarised: Sequence[Message], room: HistoryRoom) -> Sequence[Message]:
    """Return the messages to summarise now, of those that no summary covers, oldest first."""
    is_long = len(unsummarised) > room.max_verbatim
    if not is_long and not _is_heavy(unsummarised, room.max_verbatim_tokens):
        return ()
    sizes = accumulate(map(_count_tokens, reversed(unsummarised)))
    fitting = sum(1 for _ in takewhile(lambda size: size <= room.tokens // 4, sizes))
    kept = max(min(fitting, room.messages // 4), MIN_VERBATIM)
    return unsummarised[: min(room.batch, len(unsummarised) - kept)]


def _list_unsummarised(newest_first: Sequence[Message], session: Session) -> list[Message]:
    return [message for message in reversed(newest_first) if not session.is_summarised(message)]


def _is_heavy(messages: Sequence[Message], max_tokens: int) -> bool:
    """Tell whether messages are too large; never with few of them, else every turn would cut."""
    return len(messages) >= 2 * MIN_VERBATIM and sum(map(_count_tokens, messages)) > max_tokens


def _count_tokens(message: Message) -> int:
    tokens = MESSAGE_TOKENS + estimate_tokens(message.text)
    for step in message.steps:
        if isinstance(step, CallStep):
            tokens += _CALL_TOKENS + estimate_tokens(step.arguments + step.summary)
    return tokens


def list_owner_texts(newest_first: Sequence[Message]) -> list[str]:
    """Return the latest messages of the owner before a question."""
    return [message.text for message in select_owner_messages(newest_first)]


def list_exchange(newest_first: Sequence[Message]) -> list[str]:
    """Return the latest messages before a question, the oldest first, with who wrote them."""
    latest = reversed(newest_first[:MAX_EXCHANGE])
    return [f"{'owner' if m.is_owners else 'assistant'}: {m.text}" for m in latest]


def select_owner_messages(newest_first: Sequence[Message]) -> list[Message]:
    return list(islice((m for m in newest_first if m.is_owners), MAX_OWNER_MESSAGES))
