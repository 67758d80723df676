"""Offline model: ChatModel by extraction and quotation, through the same loop and tools as a real one.

Also called: mock LLM, rule-based model.
"""

import json
import re
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from functools import partial
from itertools import islice, pairwise
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import anyio
from anyio import CapacityLimiter, to_thread
from pydantic import ValidationError

from shared.adapters.embedded.offline import answers
from shared.adapters.embedded.offline.finds import parse_results
from shared.adapters.embedded.offline.intents import SMALL_TALK, Reading, complete, read_intent
from shared.adapters.embedded.offline.planner import Request, plan
from shared.data.store.codec import type_adapter
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.models.model import (
    AssistantTurn,
    FinishReason,
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
from shared.ports import EncodeQuestion

T = TypeVar("T")

Vector = Sequence[float]
NOBODY = UserId("")
QUESTION_WAIT_S, TASK_WAIT_S = 3.0, 30.0
"""Nobody waits for tasks: the encoder may have to start first."""
MODEL_NAME = "offline-extractive"
_FREE = Usage(cost_micro_usd=0)
EXTRACTION = "process_conversation/extraction"
MAX_READINGS = 200
"""Of one part of a conversation; each takes a processor some 20 ms. Words tell of further ones whether they are tasks."""
WINDOW_TOKENS = 500_000
"""It reads the question and the results of its tools alone, and quotes from any number of them."""
_CURRENT_TIME = re.compile(r"^Current time: (\S+) \(([^)]+)\)", re.MULTILINE)
_WORD_PATTERN = re.compile(r"\s*\S+|\s+")
_answering, _extracting, _encoding = (CapacityLimiter(1) for _ in range(3))
"""Threads share one interpreter: several at work would delay every request. No answer waits for an extraction."""


class OfflineModel:
    """Deterministic: the same messages always give the same answer.

    `encode` tells what a question of the `asker` means; without it, and where it fails, words do.
    """

    def __init__(self, encode: EncodeQuestion | None = None, asker: UserId = NOBODY) -> None:
        self._encode = encode
        self._asker = asker

    def for_asker(self, uid: UserId) -> "OfflineModel":
        return OfflineModel(self._encode, uid)

    def name(self, role: ModelRole) -> str:
        return MODEL_NAME

    def describe(self, role: ModelRole) -> ModelFacts:
        return ModelFacts(window_tokens=WINDOW_TOKENS, is_local=True, is_extractive=True)

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        question = _split_context(messages[_find_question(messages)])[1]
        vector = await self._read_meaning(question, wait_s=QUESTION_WAIT_S)
        reply = _reply(messages, tools, vector)

        async def stream_events() -> AsyncGenerator[ModelEvent, None]:
            for event in await to_thread.run_sync(list, reply, limiter=_answering):
                yield event

        async with aclosing(stream_events()) as events:
            yield events

    async def _read_meaning(self, text: str, *, wait_s: float) -> Vector | None:
        if self._encode is None or not text:
            return None
        with anyio.move_on_after(wait_s):
            try:
                return await self._encode(self._asker, text)
            except (ModelFailed, Unavailable):
                pass  # words tell what it is for
        return None

    async def _read_tasks(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Encode what may be a task, one sentence after the other: a question waits for one at most."""
        from shared.adapters.embedded.offline.tasks import read_talk

        talk = await to_thread.run_sync(read_talk, data, limiter=_extracting)
        meanings: dict[str, Vector] = {}
        async with _encoding:
            readings = dict.fromkeys(task.reading for task in talk.nominees.values())
            for reading in islice(filter(None, readings), MAX_READINGS):
                vector = await self._read_meaning(reading, wait_s=TASK_WAIT_S)
                if vector is None:
                    break  # an encoder that is away keeps each waiting
                meanings[reading] = vector
        return {**data, "talk": talk, "meanings": meanings}

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        extractors = await to_thread.run_sync(_import_extractors)
        if prompt.name not in extractors:
            raise ModelFailed(f"the offline model cannot answer {prompt.name!r}")
        is_encoded = prompt.name == EXTRACTION and self._encode is not None
        data = await self._read_tasks(prompt.data) if is_encoded else prompt.data
        extract = partial(extractors[prompt.name], data)
        try:
            value: T = type_adapter(schema).validate_python(
                await to_thread.run_sync(extract, limiter=_extracting)  # seconds, if it is long
            )
        except ValidationError as error:
            raise ModelFailed(f"the extract for {prompt.name!r} does not fit") from error
        record_model_call(role, _FREE)
        return value


def _import_extractors() -> Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]:
    """Import what reads conversations, and its tables: late, so that no question waits for it."""
    from shared.adapters.embedded.offline.extractors import EXTRACTORS

    return EXTRACTORS


def _reply(
    messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], vector: Vector | None
) -> Iterator[ModelEvent]:
    """Ask for tools first, answer when their results are there; what points back is asked with the question before."""
    position = _find_question(messages)
    context, text = _split_context(messages[position])
    whole = complete(text, _list_questions(messages[:position]))
    reading = read_intent(text, vector) if whole == text else Reading(intent="search")
    request = Request(text=whole, reading=reading, now=_parse_current_time(context))
    earlier = [call for m in messages if isinstance(m, AssistantTurn) for call in m.tool_calls]
    names = {call.id: call.name for call in earlier}
    said = [m for m in messages[position + 1 :] if isinstance(m, ToolResult)]
    results = parse_results((names[result.call_id], result.text) for result in said)
    is_talk = not results and request.intent in SMALL_TALK
    calls = [] if is_talk else plan(request, results, tools)
    for number, (name, arguments) in enumerate(calls, len(earlier)):
        words = json.dumps(arguments, ensure_ascii=False)
        yield ToolCallRequested(ToolCall(id=f"call_{number}", name=name, arguments=words))
    if not calls:
        yield from map(TextDelta, _WORD_PATTERN.findall(answers.answer(request, results)))
    reason: FinishReason = "tool_calls" if calls else "stop"
    yield ModelCallFinished(reason=reason, model=MODEL_NAME, usage=_FREE)


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
