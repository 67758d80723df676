"""Requests to Chat Completions: one call in the form that its server takes; pure.

The same conversation is always the same bytes, so that the provider's prompt cache finds its prefix.
Newer models of OpenAI find only prefixes that end at a mark, and what is written to their cache costs a
quarter more than what is only read.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from pydantic_core import to_json

from shared.data.store.codec import type_adapter
from shared.domain.models.model import (
    AssistantTurn,
    ModelMessage,
    Prompt,
    SystemText,
    ToolResult,
    ToolSpec,
    UserText,
)
from shared.domain.models.model_facts import can_skip_reasoning, takes_cache_breakpoints
from shared.domain.value import value
from shared.models.known_models import Step
from shared.models.messages import build_messages
from shared.models.schemas import normalise_answer_schema, normalise_tool
from shared.models.windows import write_data

NO_STEPS: frozenset[Step] = frozenset()
_MARK = {"mode": "explicit"}
_LATEST_MARKS = 20
"""The cache is read at the latest 50 marks of a request, and written at the latest four."""
_SCHEMA_NOTE = "Answer with one JSON object and nothing else. It must fit this JSON Schema:"
_MAX_CACHED_TOOLS = 2_000


@value
class AnswerFormat:
    """The schema of a structured answer, as strict mode takes it, and without bounds.

    The API allows no slash in its name.
    """

    name: str
    strict_schema: Mapping[str, Any]
    plain_schema: Mapping[str, Any]


@value
class ModelRequest:
    """One call. `max_tokens` bounds its answer; `bound_field` is what this server calls that first."""

    model: str
    messages: Sequence[ModelMessage]
    tools: Sequence[ToolSpec] = ()
    answer_format: AnswerFormat | None = None
    max_tokens: int | None = None
    bound_field: str = "max_tokens"
    marks_prefixes: bool = False
    place: int | None = None


def build_body(request: ModelRequest, steps: Collection[Step] = NO_STEPS) -> dict[str, Any]:
    """Build the body of a stream, with all that its model is known to refuse left out.

    A model that can skip reasoning does: the first word need not wait for it, and gpt-6 calls tools in
    Chat Completions only so. Other models get no effort: servers refuse fields that they do not know.
    """
    return {
        "model": request.model,
        **_build_effort(request, steps),
        **_build_cache(request, steps),
        "messages": _build_wire_messages(request, steps),
        "stream": True,
        **({} if "no_usage" in steps else {"stream_options": {"include_usage": True}}),
        **_build_bound(request, steps),
        **_build_tools(request, steps),
        **_build_answer_format(request, steps),
        **({} if request.place is None else {"id_slot": request.place}),
    }


def build_prompt_messages(prompt: Prompt) -> Sequence[ModelMessage]:
    """Put the data after the instructions, in a fence that the data cannot close."""
    question = UserText(text=write_data(prompt.data), is_fleeting=True)
    return SystemText(text=prompt.instructions), question


def build_answer_format(name: str, schema: type) -> AnswerFormat:
    """Build the format of answers to a prompt, once for each: its schema costs a millisecond."""
    key = (name, schema)
    if key not in _answer_formats:
        declared = type_adapter(schema).json_schema()
        _answer_formats[key] = AnswerFormat(
            name=name.rpartition("/")[2],
            strict_schema=normalise_answer_schema(declared),
            plain_schema=normalise_answer_schema(declared, plain=True),
        )
    return _answer_formats[key]


_answer_formats: dict[tuple[str, type], AnswerFormat] = {}
"""As many as there are prompts."""


def to_wire_tool(spec: ToolSpec, *, plain: bool = False) -> dict[str, Any]:
    """Return a tool as it is sent; what was built for the same object is used again."""
    key = (id(spec), plain)
    cached = _wire_tools.get(key)
    if cached is None or cached[0] is not spec:
        if len(_wire_tools) >= _MAX_CACHED_TOOLS:
            _wire_tools.clear()
        sent = normalise_tool(spec, plain=plain)
        function = {
            "name": sent.name,
            "description": sent.description,
            "parameters": sent.parameters,
        }
        cached = _wire_tools[key] = spec, {"type": "function", "function": function}
    return cached[1]


_wire_tools: dict[tuple[int, bool], tuple[ToolSpec, dict[str, Any]]] = {}
"""By identity, which the specification beside it keeps from being given to another one."""


def _build_effort(request: ModelRequest, steps: Collection[Step]) -> Mapping[str, Any]:
    if "no_effort" in steps or not can_skip_reasoning(request.model):
        return {}
    return {"reasoning_effort": "none"}


def _marks_prefixes(request: ModelRequest, steps: Collection[Step]) -> bool:
    is_taken = request.marks_prefixes and takes_cache_breakpoints(request.model)
    return is_taken and "no_cache_marks" not in steps


def _build_cache(request: ModelRequest, steps: Collection[Step]) -> Mapping[str, Any]:
    """Say what shall be kept in the cache of a model that takes such marks."""
    marks = _marks_prefixes(request, steps)
    return {"prompt_cache_options": {"mode": "explicit"}} if marks else {}


def _build_bound(request: ModelRequest, steps: Collection[Step]) -> Mapping[str, Any]:
    if request.max_tokens is None or "no_bound" in steps:
        return {}
    other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
    name = other[request.bound_field] if "other_bound" in steps else request.bound_field
    return {name: request.max_tokens}


def _build_tools(request: ModelRequest, steps: Collection[Step]) -> Mapping[str, Any]:
    if not request.tools or "no_tools" in steps:
        return {}
    plain = "plain_schemas" in steps
    return {"tools": [to_wire_tool(tool, plain=plain) for tool in request.tools]}


def _build_answer_format(request: ModelRequest, steps: Collection[Step]) -> Mapping[str, Any]:
    if request.answer_format is None or "text_answers" in steps:
        return {}
    if "json_object" in steps:
        return {"response_format": {"type": "json_object"}}
    schema = _build_schema(request.answer_format, steps)
    json_schema = {"name": request.answer_format.name, "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": json_schema}}


def _build_schema(answer_format: AnswerFormat, steps: Collection[Step]) -> Mapping[str, Any]:
    return answer_format.plain_schema if "plain_schemas" in steps else answer_format.strict_schema


def _build_wire_messages(
    request: ModelRequest, steps: Collection[Step]
) -> Sequence[Mapping[str, Any]]:
    messages = _add_schema(request, steps)
    if _marks_prefixes(request, steps):
        wire_messages = build_messages(messages, steps)
        for n in _find_prefix_ends(messages):
            wire_messages[n] = _mark(wire_messages[n])
        return wire_messages
    return build_messages(messages, steps)


def _add_schema(request: ModelRequest, steps: Collection[Step]) -> Sequence[ModelMessage]:
    """Write the schema into the instructions where the request has no other place for it."""
    if request.answer_format is None or not {"json_object", "text_answers"}.intersection(steps):
        return request.messages
    schema = to_json(_build_schema(request.answer_format, steps)).decode()
    first, *rest = request.messages
    return [replace(first, text=f"{first.text}\n\n{_SCHEMA_NOTE}\n{schema}"), *rest]


def _find_prefix_ends(messages: Sequence[ModelMessage]) -> Sequence[int]:
    """Return where requests may begin alike: after the instructions, and after the latest that stands."""
    instructions = takewhile(lambda n: isinstance(messages[n], SystemText), range(len(messages)))
    standing = [n for n, message in enumerate(messages) if _stands(message)]
    return [*[*instructions][-1:], *standing[-_LATEST_MARKS:]]


def _stands(message: ModelMessage) -> bool:
    """Tell whether later calls may repeat it; what a model said itself takes no mark, nor does nothing."""
    match message:
        case UserText(text=text, pictures=pictures, is_fleeting=is_fleeting):
            return not is_fleeting and bool(text or pictures)
        case ToolResult(text=text):
            return bool(text)
        case SystemText() | AssistantTurn():
            return False


def _mark(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message whose last part ends a prefix to keep."""
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {**message, "content": [*parts[:-1], {**parts[-1], "prompt_cache_breakpoint": _MARK}]}
