"""Turns with a model behind its port: questions with their tools, as the loop of a chat asks them."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field

from shared.adapters.cloud.openai_model import OpenaiModel
from shared.domain.errors import ModelFailed, ModelUnreachable, RateLimited, Unavailable
from shared.domain.models.model import (
    AssistantTurn,
    ModelCallFinished,
    ModelMessage,
    Picture,
    Prompt,
    ReasoningDelta,
    SystemText,
    TextDelta,
    TextWithdrawn,
    ToolCall,
    ToolCallRequested,
    ToolLeftOut,
    ToolResult,
    ToolSpec,
    UserText,
)
from shared.domain.provenance import LIBRARY, Source
from shared.ports import ChatModel, Clock
from tests.servers.quirky_openai import RESULT, SEARCH, Quirk

_MAX_CYCLES = 4

SEARCH_TOOL = ToolSpec(
    name=SEARCH,
    description="Find what was said in the owner's conversations.",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "maxLength": 2_000, "description": "What to look for."},
            "start_date": {"type": "string", "format": "date-time"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
APP_TOOL = ToolSpec(
    name="tag_items",
    description="Tag items of the user.",
    parameters={
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["tags"],
    },
    source=Source(kind="app", id="tagger", name="Tagger"),
)

_RULES = (SystemText(text="You are Keepsake."), SystemText(text="Answer in English."))
_EARLIER = ToolCall(id="call_h1", name=SEARCH, arguments='{"query": "call of Ann"}')
_QUESTION = UserText(text="When does the plumber come?")
_PICTURE = Picture(content=b"picture", media_type="image/webp", tokens=85)

_EARLIER_TURN: tuple[ModelMessage, ...] = (
    UserText(text="When did Ann call?"),
    AssistantTurn(text="", tool_calls=(_EARLIER,)),
    ToolResult(call_id=_EARLIER.id, text="The results of this call are left out.", source=LIBRARY),
    AssistantTurn(text="On Monday."),
)


def _end_with_long_call_id() -> tuple[ModelMessage, ...]:
    long = ToolCall(id=f"functions.{SEARCH}:0-" + "x" * 60, name=SEARCH, arguments="{}")
    return (
        UserText(text="When did Ann call?"),
        AssistantTurn(text="", tool_calls=(long,)),
        ToolResult(call_id=long.id, text="The results of this call are left out.", source=LIBRARY),
        AssistantTurn(text="On Monday."),
    )


SENT: Mapping[str, tuple[ModelMessage, ...]] = {
    "chat": (
        *_RULES,
        UserText(text="Hello"),
        AssistantTurn(text="Hello!"),
        *_EARLIER_TURN,
        _QUESTION,
    ),
    "first message": (*_RULES, _QUESTION),
    "greeted": (*_RULES, AssistantTurn(text="Hello! Ask me anything."), _QUESTION),
    "two in a row": (*_RULES, UserText(text="I am back."), _QUESTION),
    "empty result": (
        *_RULES,
        *_EARLIER_TURN[:2],
        ToolResult(call_id=_EARLIER.id, text="", source=LIBRARY),
        AssistantTurn(text=""),
        _QUESTION,
    ),
    "long call id": (*_RULES, *_end_with_long_call_id(), _QUESTION),
    "picture": (*_RULES, UserText(text=_QUESTION.text, pictures=(_PICTURE,))),
    "earlier picture": (
        *_RULES,
        UserText(text="What is this?", pictures=(_PICTURE,)),
        AssistantTurn(text="A boiler."),
        _QUESTION,
    ),
    "quotation": (
        *_RULES,
        UserText(
            text="My server says: System role not supported. Conversation roles must alternate. This model's "
            "maximum context length is 1200 tokens. Unrecognized request argument supplied: stream_options. "
            "failed to parse grammar. It does not support tools. Unknown parameter: 'max_tokens'."
        ),
    ),
    "long": (*_RULES, UserText(text="The plumber said that he would come. " * 1_000), _QUESTION),
}
"""Messages that are asked, by what is special about them."""
_REMINDER = UserText(text="<reminder>\nName your sources.\n</reminder>", is_fleeting=True)


class Title(BaseModel):
    """What a structured answer is read as."""

    title: str = Field(max_length=2_000, pattern=r"^\S")
    tasks: list[str] = Field(default=[], max_length=50)
    certainty: float = Field(default=1, ge=0, le=1)


_TITLE_PROMPT = Prompt(
    name="library/title",
    version="1",
    instructions="Give it a title, and list what is to be done.",
    data={"said": "The boiler is broken. I must call the plumber."},
)


@dataclass(kw_only=True)
class Outcome:
    """How a question ended; `failure` is the reason of a failure, `unavailable` where there is none."""

    text: str = ""
    reasoning: str = ""
    calls: list[Mapping[str, Any]] = field(default_factory=list)
    reason: str = ""
    left_out: list[str] = field(default_factory=list)
    value: object = None
    failure: str = ""
    retry_after_s: float | None = None
    may_be_too_long: bool = False
    error: Exception | None = None


@asynccontextmanager
async def open_model(
    url: str,
    name: str = "quirky-1",
    *,
    api_key: str = "sk-quirky",
    marks_prefixes: bool = False,
    clock: Clock | None = None,
) -> AsyncIterator[OpenaiModel]:
    """Open a model of which nothing is known."""
    model = OpenaiModel(
        api_key=api_key,
        base_url=url,
        models={"agent": name, "fast": name, "reader": name},
        marks_prefixes=marks_prefixes,
        clock=clock,
    )
    try:
        yield model
    finally:
        await model.aclose()


async def ask(model: ChatModel, quirk: Quirk) -> Outcome:
    """Ask what a quirk is about."""
    if quirk.ask == "structured":
        return await ask_structured(model)
    tools = (SEARCH_TOOL, *quirk.tools) if quirk.ask == "question" else ()
    return await ask_chat(model, SENT[quirk.sent], tools)


async def ask_structured(model: ChatModel, prompt: Prompt = _TITLE_PROMPT) -> Outcome:
    outcome = Outcome()
    try:
        outcome.value = await model.complete_structured("reader", prompt, Title)
    except (ModelFailed, Unavailable) as error:
        _note_failure(outcome, error)
    return outcome


async def ask_chat(
    model: ChatModel, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
) -> Outcome:
    """Ask as the loop of a chat does: run what is called, say what cannot be run, and ask again."""
    outcome = Outcome()
    sent = list(messages)
    try:
        for _ in range(_MAX_CYCLES):
            turn, results = await _run_cycle(model, sent, tools, outcome)
            if not results:
                break
            sent = [*sent, turn, *results]
    except (ModelFailed, Unavailable) as error:
        _note_failure(outcome, error)
    return outcome


async def _run_cycle(
    model: ChatModel,
    messages: Sequence[ModelMessage],
    tools: Sequence[ToolSpec],
    outcome: Outcome,
) -> tuple[AssistantTurn, Sequence[ToolResult]]:
    has_results = isinstance(messages[-1], ToolResult)
    sent = [*messages, _REMINDER] if has_results else messages
    text, calls = "", list[ToolCall]()
    finish: ModelCallFinished | None = None
    async with model.stream("agent", sent, tools) as events:
        async for event in events:
            assert finish is None, "something came after the end"
            match event:
                case TextDelta(piece):
                    text += piece
                    outcome.text += piece
                case ReasoningDelta(piece):
                    outcome.reasoning += piece
                case TextWithdrawn():
                    outcome.reasoning += text
                    outcome.text = outcome.text[: len(outcome.text) - len(text)]
                    text = ""
                case ToolCallRequested(call):
                    calls.append(call)
                case ToolLeftOut(name=name):
                    outcome.left_out.append(name)
                case ModelCallFinished():
                    finish = event
    assert finish is not None, "the stream has no end"
    assert (finish.reason == "tool_calls") == bool(calls)
    outcome.text.encode()
    outcome.reason = finish.reason
    turn = AssistantTurn(text=text, tool_calls=tuple(calls), given_back=finish.given_back)
    return turn, [_run_call(call, outcome) for call in calls]


def _run_call(call: ToolCall, outcome: Outcome) -> ToolResult:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = None
    if call.name != SEARCH:
        return ToolResult(call_id=call.id, text=f"There is no tool {call.name!r}.")
    if not isinstance(arguments, dict):
        return ToolResult(call_id=call.id, text="The arguments are not a JSON object.")
    outcome.calls.append(arguments)
    return ToolResult(call_id=call.id, text=RESULT, source=LIBRARY)


def _note_failure(outcome: Outcome, error: ModelFailed | Unavailable) -> None:
    outcome.error = error
    match error:
        case ModelFailed():
            outcome.failure = error.reason
            outcome.may_be_too_long = error.may_be_too_long
        case RateLimited() | ModelUnreachable():
            outcome.failure = error.reason
        case _:
            outcome.failure = "unavailable"
    if isinstance(error, Unavailable):
        outcome.retry_after_s = error.retry_after_s
