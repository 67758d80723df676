"""ChatModel without a model: it extracts and quotes, through the same loop and tools as a real one."""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from typing import TypeVar
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from shared.adapters import offline_answers
from shared.adapters.offline_general import is_general
from shared.adapters.offline_planner import Request, is_small_talk, plan
from shared.data.codec import adapter
from shared.domain.errors import ModelFailed
from shared.domain.model import (
    AssistantTurn,
    Finished,
    ModelEvent,
    ModelMessage,
    ModelRole,
    Prompt,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    ToolResult,
    ToolSpec,
    UserText,
)

T = TypeVar("T")

NAME = "offline-extractive"
_CLOCK = re.compile(r"^Current time: (\S+) \(([^)]+)\)", re.MULTILINE)
_WORD = re.compile(r"\s*\S+|\s+")


class OfflineModel:
    """Deterministic: the same messages always give the same answer."""

    def name(self, role: ModelRole) -> str:
        return NAME

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        async with aclosing(_events(messages, tools)) as events:
            yield events

    async def structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        from shared.extraction import EXTRACTORS  # here, because a chat loads no extractors

        if prompt.name not in EXTRACTORS:
            raise ModelFailed(f"the offline model cannot answer {prompt.name!r}")
        try:
            value: T = adapter(schema).validate_python(EXTRACTORS[prompt.name](prompt.data))
        except ValidationError as error:
            raise ModelFailed(f"the extract for {prompt.name!r} does not fit") from error
        return value


async def _events(
    messages: Sequence[ModelMessage], tools: Sequence[ToolSpec]
) -> AsyncGenerator[ModelEvent, None]:
    for event in _reply(messages, tools):
        yield event


def _reply(messages: Sequence[ModelMessage], tools: Sequence[ToolSpec]) -> Iterator[ModelEvent]:
    """Ask for tools first, answer when their results are there."""
    position = max(n for n, said in enumerate(messages) if isinstance(said, UserText))
    context, question = _split(messages[position])
    results = _results(messages[position + 1 :])
    if results:
        yield from _say(offline_answers.answer(question, results))
    elif is_small_talk(question):
        yield from _say(offline_answers.GREETING)
    elif requests := plan(question, _now(context), tools):
        yield from _ask(requests, earlier=_count_calls(messages))
    elif is_general(question):
        yield from _say(offline_answers.GENERAL)
    else:
        yield from _say(offline_answers.NOTHING)


def _split(said: ModelMessage) -> tuple[str, str]:
    """Part the context block from the owner's own words."""
    assert isinstance(said, UserText)
    context, closing, question = said.text.rpartition("</context>")
    return context + closing, question.strip()


def _now(context: str) -> datetime | None:
    found = _CLOCK.search(context)
    return datetime.fromisoformat(found[1]).astimezone(ZoneInfo(found[2])) if found else None


def _results(said: Sequence[ModelMessage]) -> list[tuple[str, str]]:
    """Pair what the tools answered with the names they were called by."""
    turns = [turn for turn in said if isinstance(turn, AssistantTurn)]
    names = {call.id: call.name for turn in turns for call in turn.tool_calls}
    return [(names[r.call_id], r.text) for r in said if isinstance(r, ToolResult)]


def _count_calls(messages: Sequence[ModelMessage]) -> int:
    return sum(len(said.tool_calls) for said in messages if isinstance(said, AssistantTurn))


def _ask(requests: Sequence[Request], *, earlier: int) -> Iterator[ModelEvent]:
    for number, (name, arguments) in enumerate(requests, earlier):
        text = json.dumps(arguments, ensure_ascii=False)
        yield ToolCallRequested(ToolCall(id=f"call_{number}", name=name, arguments=text))
    yield Finished(reason="tool_calls", model=NAME)


def _say(text: str) -> Iterator[ModelEvent]:
    yield from map(TextDelta, _WORD.findall(text))
    yield Finished(reason="stop", model=NAME)
