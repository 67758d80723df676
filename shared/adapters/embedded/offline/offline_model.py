"""Offline model: ChatModel by extraction and quotation, through the same loop and tools as a real one.

Also called: mock LLM, rule-based model.
"""

import json
import re
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from anyio import CapacityLimiter, to_thread
from pydantic import ValidationError

from shared.adapters.embedded.offline import answers
from shared.adapters.embedded.offline.follow_ups import complete
from shared.adapters.embedded.offline.general import is_general
from shared.adapters.embedded.offline.last_talk import plan_last_talk
from shared.adapters.embedded.offline.planner import (
    PlannedCall,
    is_goodbye,
    is_small_talk,
    is_thanks,
    plan,
    plan_without_time,
    select_offered,
)
from shared.adapters.embedded.offline.results import parse_results
from shared.data.store.codec import type_adapter
from shared.domain.errors import ModelFailed
from shared.domain.models.model import (
    AssistantTurn,
    ModelCallFinished,
    ModelEvent,
    ModelFacts,
    ModelMessage,
    ModelRole,
    Prompt,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    ToolResult,
    ToolSpec,
    Usage,
    UserText,
)
from shared.model_meter import record_model_call

T = TypeVar("T")

MODEL_NAME = "offline-extractive"
_FREE = Usage(cost_micro_usd=0)
WINDOW_TOKENS = 500_000
"""It reads the question and the results of its tools alone, and quotes from any number of them."""
MAX_BRIEF_CHARS = 2_000
"""A longer question is read in a thread: ten of the longest at once would keep other requests waiting for half a second."""
_CURRENT_TIME = re.compile(r"^Current time: (\S+) \(([^)]+)\)", re.MULTILINE)
_WORD_PATTERN = re.compile(r"\s*\S+|\s+")
_one_thread = CapacityLimiter(1)
"""Threads share one interpreter: several at work would delay every request."""


class OfflineModel:
    """Deterministic: the same messages always give the same answer."""

    def name(self, role: ModelRole) -> str:
        return MODEL_NAME

    def describe(self, role: ModelRole) -> ModelFacts:
        return ModelFacts(window_tokens=WINDOW_TOKENS, is_local=True, is_extractive=True)

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        async with aclosing(_stream_events(messages, tools)) as events:
            yield events

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        extractors = _load_extractors(prompt.name)
        if prompt.name not in extractors:
            raise ModelFailed(f"the offline model cannot answer {prompt.name!r}")
        extract = partial(extractors[prompt.name], prompt.data)
        try:
            value: T = type_adapter(schema).validate_python(
                await to_thread.run_sync(extract, limiter=_one_thread)  # seconds, if it is long
            )
        except ValidationError as error:
            raise ModelFailed(f"the extract for {prompt.name!r} does not fit") from error
        record_model_call(role, _FREE)
        return value


def _load_extractors(prompt_name: str) -> Mapping[str, Callable[[Mapping[str, Any]], Any]]:
    """Import those of one function: no question waits for what reads conversations."""
    if prompt_name.startswith("chat/"):
        from shared.adapters.embedded.offline import chat_extractors

        return chat_extractors.EXTRACTORS
    from shared.adapters.embedded.offline import conversation_extractors

    return conversation_extractors.EXTRACTORS


async def _stream_events(
    messages: Sequence[ModelMessage], tools: Sequence[ToolSpec]
) -> AsyncGenerator[ModelEvent, None]:
    events: Iterable[ModelEvent] = _reply(messages, tools)
    if len(_split_context(messages[_find_question(messages)])[1]) > MAX_BRIEF_CHARS:
        events = await to_thread.run_sync(list, events, limiter=_one_thread)
    for event in events:
        yield event


def _reply(messages: Sequence[ModelMessage], tools: Sequence[ToolSpec]) -> Iterator[ModelEvent]:
    """Ask for tools first, answer when their results are there."""
    position = _find_question(messages)
    context, text = _split_context(messages[position])
    question = complete(text, _list_questions(messages[:position]))
    results = parse_results(_pair_results(messages[position + 1 :]))
    now = _parse_current_time(context)
    further = plan_last_talk(question, results, now) or plan_without_time(question, results, now)
    if results and (requests := select_offered(further, tools)):
        yield from _request_tools(requests, earlier=_count_calls(messages))
    elif results:
        yield from _stream_text(answers.answer(question, results, zone=now.tzinfo if now else None))
    elif is_thanks(question):
        yield from _stream_text(answers.WELCOME)
    elif is_goodbye(question):
        yield from _stream_text(answers.GOODBYE)
    elif is_small_talk(question):
        yield from _stream_text(answers.GREETING)
    elif requests := plan(question, now, tools):
        yield from _request_tools(requests, earlier=_count_calls(messages))
    elif is_general(question):
        yield from _stream_text(answers.CANNOT_ANSWER_GENERAL)
    else:
        yield from _stream_text(answers.NOTHING_FOUND)


def _find_question(messages: Sequence[ModelMessage]) -> int:
    """Return the position of the latest message of the owner; a reminder may follow it."""
    return max(
        n
        for n, message in enumerate(messages)
        if isinstance(message, UserText) and not message.text.startswith("<reminder>")
    )


def _list_questions(messages: Sequence[ModelMessage]) -> list[str]:
    """Return the owner's earlier questions: an answer of ours comes right behind each."""
    return [
        message.text
        for message, following in pairwise(messages)
        if isinstance(message, UserText) and isinstance(following, AssistantTurn)
    ]


def _split_context(message: ModelMessage) -> tuple[str, str]:
    """Separate the context block from the owner's question."""
    assert isinstance(message, UserText)
    context, closing, question = message.text.rpartition("</context>")
    return context + closing, question.strip()


def _parse_current_time(context: str) -> datetime | None:
    match = _CURRENT_TIME.search(context)
    return datetime.fromisoformat(match[1]).astimezone(ZoneInfo(match[2])) if match else None


def _pair_results(messages: Sequence[ModelMessage]) -> list[tuple[str, str]]:
    """Pair the tools' answers with the tools' names."""
    turns = [turn for turn in messages if isinstance(turn, AssistantTurn)]
    names = {call.id: call.name for turn in turns for call in turn.tool_calls}
    return [(names[r.call_id], r.text) for r in messages if isinstance(r, ToolResult)]


def _count_calls(messages: Sequence[ModelMessage]) -> int:
    return sum(
        len(message.tool_calls) for message in messages if isinstance(message, AssistantTurn)
    )


def _request_tools(requests: Sequence[PlannedCall], *, earlier: int) -> Iterator[ModelEvent]:
    for number, (name, arguments) in enumerate(requests, earlier):
        text = json.dumps(arguments, ensure_ascii=False)
        yield ToolCallRequested(ToolCall(id=f"call_{number}", name=name, arguments=text))
    yield ModelCallFinished(reason="tool_calls", model=MODEL_NAME, usage=_FREE)


def _stream_text(text: str) -> Iterator[ModelEvent]:
    yield from map(TextDelta, _WORD_PATTERN.findall(text))
    yield ModelCallFinished(reason="stop", model=MODEL_NAME, usage=_FREE)
