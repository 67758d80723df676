"""History of a chat: its messages in the form that the model reads.

As its own words it is given what a model wrote, never what our code wrote into an answer.

Also called: chat history, conversation history, message history.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from pydantic_core import from_json

from functions.chat.context.blocks import EarlierMessage, build_earlier_message
from functions.chat.context.citations import restore_markers
from functions.chat.context.earlier_results import NO_RESULTS, EarlierResult, EarlierResults
from functions.chat.context.given_files import (
    NO_TEXTS,
    FileTexts,
    add_pictures,
    build_document_messages,
    list_pictures,
    number_documents,
)
from functions.chat.context.model_words import select_model_words
from functions.chat.context.numbering import Numbering, read_numbering
from shared import prompts
from shared.domain.chats.chat import Message
from shared.domain.chats.run import build_question_id
from shared.domain.chats.steps import CallState, CallStep, Step
from shared.domain.ids import RunId
from shared.domain.models.model import AssistantTurn, ModelMessage, ToolCall, ToolResult, UserText

RESULT_TEXTS: Mapping[CallState, str] = {
    "done": "This tool call completed but the results are no longer accessible.",
    "failed": "This tool call failed.",
    "skipped": "This tool call was not made: the owner did not allow it.",
    "abandoned": "The answer ended before this tool call did.",
}
"""Text of others is not repeated: it may be outdated. Data is, as far as it was kept.

Else a summary stands in its place where the owner wants one.
"""


def build_history(
    messages: Sequence[Message],
    texts: FileTexts = NO_TEXTS,
    results: EarlierResults = NO_RESULTS,
    *,
    numbering: Numbering,
) -> tuple[EarlierMessage, ...]:
    """Return earlier messages, each to be kept as a whole or left out; files stand above theirs, by their numbers."""
    built = (_build_earlier(each, texts, results, numbering) for each in pair_answers(messages))
    return tuple(earlier for earlier in built if earlier.messages)


def pair_answers(messages: Sequence[Message]) -> list[Message]:
    """Put each answer right behind its question: of two that are asked at once, one stands between."""
    asked = {message.id for message in messages}
    answers = {
        question_id: message
        for message in messages
        if message.sender == "ai" and (question_id := build_question_id(RunId(message.id))) in asked
    }
    moved = {answer.id for answer in answers.values()}
    pairs = ((each, answers.get(each.id)) for each in messages if each.id not in moved)
    return [message for pair in pairs for message in pair if message is not None]


def _build_earlier(
    message: Message, texts: FileTexts, results: EarlierResults, numbering: Numbering
) -> EarlierMessage:
    said = _to_model_messages(message, results, numbering)
    given = [texts[file.id] for file in message.files if file.id in texts] if texts else ()
    if not given:
        return build_earlier_message(said)
    documents = build_document_messages(number_documents(given, numbering))
    pictures = list_pictures(given)
    shown = [add_pictures(each, pictures) if isinstance(each, UserText) else each for each in said]
    return build_earlier_message([*documents, *shown], [text.note for text in given])


def to_model_messages(
    messages: Sequence[Message], results: EarlierResults = NO_RESULTS
) -> list[ModelMessage]:
    """Return earlier messages in the form that the model reads."""
    numbering = read_numbering(messages)
    return [
        each for m in pair_answers(messages) for each in _to_model_messages(m, results, numbering)
    ]


def _to_model_messages(
    message: Message, results: EarlierResults, numbering: Numbering
) -> list[ModelMessage]:
    """Give an answer of ours with its calls; what a file names as one is a quotation."""
    words = select_model_words(message)
    if message.from_integration:
        text = json.dumps(words, ensure_ascii=False)
        return [UserText(text=prompts.render("chat/notification", text=text))]
    if message.is_imported:
        return [_quote_imported(message, words)] if words else []
    if message.sender == "human":
        return [UserText(text=words)]
    answer = [AssistantTurn(text=restore_markers(words, message, numbering))] if words else []
    calls = _replay_calls(message.steps, results.find(message)) if message.steps else ()
    return [*calls, *answer, *_describe_own_answer(message)]


def _quote_imported(message: Message, words: str) -> UserText:
    """Quote what a file says as data: it would count as the owner's words, or our own."""
    text = json.dumps({"sender": message.sender, "text": words}, ensure_ascii=False)
    return UserText(text=prompts.render("chat/imported_message", text=text))


def _describe_own_answer(message: Message) -> list[UserText]:
    """Say what became of a question that no model was to answer."""
    match message.route:
        case "crisis" | "refusal" as route:
            return [UserText(text=prompts.render(f"chat/own_answer/{route}"))]
        case "command":
            text = json.dumps(message.text, ensure_ascii=False)
            return [UserText(text=prompts.render("chat/own_answer/command", text=text))]
    return []


def _replay_calls(
    steps: Sequence[Step], results: Mapping[str, EarlierResult]
) -> list[ModelMessage]:
    """Return the calls as the model made them, those of one model call together, and their results.

    `results` are those that were kept, by the ids of their calls.
    """
    calls = [step for step in steps if isinstance(step, CallStep)]
    return [
        message
        for _, of_cycle in groupby(calls, key=lambda step: step.cycle)
        for message in _replay_cycle(list(of_cycle), results)
    ]


def _replay_cycle(
    calls: Sequence[CallStep], results: Mapping[str, EarlierResult]
) -> Iterator[ModelMessage]:
    yield AssistantTurn(text="", tool_calls=tuple(map(_to_call, calls)))
    for call in calls:
        result = results.get(call.call_id)
        text = result.text if result else call.summary or RESULT_TEXTS[call.state]
        source = result.source if result else call.source if call.summary else None
        yield ToolResult(call_id=call.call_id, text=text, source=source)


def _to_call(step: CallStep) -> ToolCall:
    return ToolCall(id=step.call_id, name=step.tool, arguments=_to_object(step.arguments))


def _to_object(arguments: str) -> str:
    """Return JSON of an object, which model APIs demand: broken or cut text is put into one."""
    try:
        is_object = isinstance(from_json(arguments, allow_inf_nan=False), dict)
    except ValueError:
        is_object = False
    return arguments if is_object else json.dumps({"text": arguments}, ensure_ascii=False)
