"""History of a chat: the messages that a turn reads, and those that a summary replaces."""

import json
from collections.abc import Sequence

from functions.chat.context.blocks import EarlierMessage, build_earlier_message
from functions.chat.context.documents import build_document_messages
from functions.chat.context.earlier_results import NO_RESULTS, EarlierResults
from functions.chat.context.file_texts import (
    NO_TEXTS,
    FileTexts,
    list_pictures,
    number_documents,
)
from functions.chat.context.pictures import add_pictures
from functions.chat.context.replayed_calls import replay_calls
from shared import prompts
from shared.domain.chat import Message, Session
from shared.domain.model import AssistantTurn, ModelMessage, UserText
from shared.domain.tokens import estimate_tokens

MIN_VERBATIM = 10
"""This many of the last messages are never summarised."""
SUMMARY_BATCH = 20
"""Maximum of messages that one summary call adds."""
MAX_VERBATIM = MIN_VERBATIM + SUMMARY_BATCH
"""Maximum of messages that stay verbatim; one more makes a summary due."""
MAX_READ = MAX_VERBATIM + MIN_VERBATIM
"""Messages read for a turn: the verbatim ones, and some more in case a summary is late."""
VERBATIM_BUDGET_TOKENS = 16_000
"""Size of the verbatim messages that makes a summary due early."""


def select_window(newest_first: Sequence[Message], session: Session) -> list[Message]:
    """Return the messages that the summary does not cover, oldest first.

    `newest_first` holds at most MAX_READ messages. The window begins where the summary ends and is
    shortened in steps, because a window that slides message by message would change the prompt's
    prefix every turn and lose the provider's cache. While a summary is late, a window that is too
    large is shortened in steps as well.
    """
    unsummarised = [
        message for message in reversed(newest_first) if not session.is_summarised(message)
    ]
    if len(unsummarised) == MAX_READ:  # the summary may end earlier: count from the first message
        unsummarised = unsummarised[(MAX_READ - session.message_count) % SUMMARY_BATCH :]
    while _is_heavy(unsummarised, 2 * VERBATIM_BUDGET_TOKENS):
        unsummarised = unsummarised[MIN_VERBATIM:]
    return unsummarised


def select_for_summary(unsummarised: Sequence[Message]) -> Sequence[Message]:
    """Return the messages to summarise now, of those that no summary covers, oldest first."""
    if len(unsummarised) <= MAX_VERBATIM and not _is_heavy(unsummarised, VERBATIM_BUDGET_TOKENS):
        return ()
    return unsummarised[: min(SUMMARY_BATCH, len(unsummarised) - MIN_VERBATIM)]


def _is_heavy(messages: Sequence[Message], budget_tokens: int) -> bool:
    """Tell whether messages are too large; never with few of them, else every turn would cut."""
    return (
        len(messages) >= 2 * MIN_VERBATIM
        and sum(estimate_tokens(m.text) for m in messages) > budget_tokens
    )


def build_history(
    messages: Sequence[Message],
    texts: FileTexts = NO_TEXTS,
    results: EarlierResults = NO_RESULTS,
) -> tuple[EarlierMessage, ...]:
    """Return earlier messages, each to be kept as a whole or left out; files stand above theirs."""
    return tuple(_build_earlier(message, texts, results) for message in messages)


def _build_earlier(message: Message, texts: FileTexts, results: EarlierResults) -> EarlierMessage:
    given = [texts[file.id] for file in message.files if file.id in texts]
    documents = build_document_messages(number_documents(given))
    pictures = list_pictures(given)
    said = [
        add_pictures(each, pictures) if isinstance(each, UserText) else each
        for each in to_model_messages([message], results)
    ]
    return build_earlier_message([*documents, *said], [text.note for text in given])


def to_model_messages(
    messages: Sequence[Message], results: EarlierResults = NO_RESULTS
) -> list[ModelMessage]:
    """Return earlier messages in the form that the model reads."""
    return [each for message in messages for each in _to_model_messages(message, results)]


def _to_model_messages(message: Message, results: EarlierResults) -> list[ModelMessage]:
    """Give an answer of ours with its calls; what a file names as one is a quotation."""
    if message.is_imported or message.from_integration:
        return [_to_model_message(message)]
    return [*replay_calls(message.steps, results.find(message)), _to_model_message(message)]


def _to_model_message(message: Message) -> ModelMessage:
    """Quote what an app or a file says as data: it would count as the owner's words, or our own."""
    if message.is_imported:
        quoted = {"sender": message.sender, "text": message.text}
        text = json.dumps(quoted, ensure_ascii=False)
        return UserText(text=prompts.render("chat/imported_message", text=text))
    if message.from_integration:
        text = json.dumps(message.text, ensure_ascii=False)
        return UserText(text=prompts.render("chat/notification", text=text))
    if message.sender == "human":
        return UserText(text=message.text)
    return AssistantTurn(text=message.text)
