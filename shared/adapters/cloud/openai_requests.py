"""Requests to Chat Completions: messages, tools and strict schemas; pure.

The same conversation is always the same bytes, so that the provider's prompt cache finds its prefix.
Newer models of OpenAI find only prefixes that end at a mark, and what is written to their cache costs a
quarter more than what is only read.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from pydantic_core import to_json

from shared.data.codec import type_adapter
from shared.domain.model import (
    AssistantTurn,
    ModelMessage,
    Picture,
    Prompt,
    SystemText,
    ToolCall,
    ToolResult,
    ToolSpec,
    UserText,
)
from shared.domain.model_facts import can_skip_reasoning, takes_cache_breakpoints
from shared.security.fencing import fence_untrusted

_MARK = {"mode": "explicit"}
_UNSUPPORTED_KEYWORDS = frozenset({"default", "title", "minLength", "maxLength", "uniqueItems"})
"""Keywords that strict mode refuses; the answer is parsed by the whole schema."""
_LATEST_MARKS = 20
"""The cache is read at the latest 50 marks of a request, and written at the latest four."""


def build_chat_body(
    model: str, messages: Sequence[ModelMessage], *, marks_prefixes: bool = False
) -> dict[str, Any]:
    """Build the body of a stream that reports its usage at the end.

    With `marks_prefixes`, it says what shall be kept in the cache of a model that takes such marks.

    A model that can skip reasoning does: the first word need not wait for it, and gpt-6 calls tools in
    Chat Completions only so. Other models get no effort: servers refuse fields that they do not know.
    """
    effort = {"reasoning_effort": "none"} if can_skip_reasoning(model) else {}
    wire_messages = [*map(_to_wire_message, messages)]
    cache: Mapping[str, Any] = {}
    if marks_prefixes and takes_cache_breakpoints(model):
        cache = {"prompt_cache_options": {"mode": "explicit"}}
        for n in _find_prefix_ends(messages):
            wire_messages[n] = _mark(wire_messages[n])
    return {
        "model": model,
        **effort,
        **cache,
        "messages": wire_messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


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
    return False


def _mark(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message whose last part ends a prefix to keep."""
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {**message, "content": [*parts[:-1], {**parts[-1], "prompt_cache_breakpoint": _MARK}]}


def _to_wire_message(message: ModelMessage) -> dict[str, Any]:
    match message:
        case SystemText(text=text):
            return {"role": "system", "content": text}
        case UserText(text=text, pictures=()):
            return {"role": "user", "content": text}
        case UserText(text=text, pictures=pictures):
            text_part = {"type": "text", "text": text}
            return {"role": "user", "content": [text_part, *map(_to_wire_picture, pictures)]}
        case ToolResult(call_id=call_id, text=text, source=source):
            content = fence_untrusted(text, source) if source else text
            return {"role": "tool", "tool_call_id": call_id, "content": content}
        case AssistantTurn(text=text, tool_calls=()):
            return {"role": "assistant", "content": text}
        case AssistantTurn(text=text, tool_calls=calls):
            return {
                "role": "assistant",
                "content": text or None,
                "tool_calls": [*map(_to_wire_call, calls)],
            }


def _to_wire_picture(picture: Picture) -> dict[str, Any]:
    url = f"data:{picture.media_type};base64,{b64encode(picture.content).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _to_wire_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def to_wire_tool(spec: ToolSpec) -> dict[str, Any]:
    function = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return {"type": "function", "function": function}


def build_prompt_messages(prompt: Prompt) -> Sequence[ModelMessage]:
    """Put the data after the instructions, in a fence that the data cannot close."""
    data = to_json(prompt.data).decode().replace("`", "\\u0060")
    question = UserText(text=f"```json\n{data}\n```", is_fleeting=True)
    return SystemText(text=prompt.instructions), question


def build_response_format(name: str, schema: type) -> dict[str, Any]:
    """Build the response format of a schema; the API allows no slash in its name."""
    strict = _to_strict(type_adapter(schema).json_schema())
    json_schema = {"name": name.rpartition("/")[2], "schema": strict, "strict": True}
    return {"type": "json_schema", "json_schema": json_schema}


def _to_strict(schema: Any) -> Any:
    """Forbid other fields and require all, as strict mode needs it."""
    if isinstance(schema, list):
        return [_to_strict(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    strict = {
        key: _to_strict_part(key, part)
        for key, part in schema.items()
        if key not in _UNSUPPORTED_KEYWORDS
    }
    if "properties" in strict:
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict


def _to_strict_part(key: str, part: Any) -> Any:
    """Keep field names: a field may be called `title` or `default`."""
    if key in {"properties", "$defs"}:
        return {name: _to_strict(schema) for name, schema in part.items()}
    return _to_strict(part)
