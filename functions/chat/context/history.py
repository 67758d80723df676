"""History of a chat: its messages in the form that the model reads."""

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
from shared.domain.chat import Message
from shared.domain.model import AssistantTurn, ModelMessage, UserText


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
