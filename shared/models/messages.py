"""Messages on the wire: their order and shape, as a server's chat template takes them; pure.

Templates differ in the roles they know, in whose turn may follow whose, and in the form of content.
"""

import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, TypeGuard

from pydantic_core import from_json

from shared.domain.models.model import (
    AssistantTurn,
    ModelMessage,
    Picture,
    SystemText,
    ToolCall,
    ToolResult,
    UserText,
)
from shared.models.known_models import Step
from shared.security.fencing import fence_untrusted

SHAPE_STEPS: frozenset[Step] = frozenset(
    (
        "one_system_text",
        "no_system_role",
        "reminder_in_result",
        "alternating",
        "single_calls",
        "calls_as_text",
        "no_tools",
        "text_content",
        "wordless_calls",
    )
)
"""Steps after which messages are not one for one what was given."""
HIDDEN_PICTURE = "(A picture that you cannot see.)"
NO_ANSWER = "(No answer was given.)"
CHAT_BEGINS = "(The chat begins here.)"
REASONING_NOT_KEPT = "(not kept)"
_TINY_PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC"
)
_NO_NAME_CHARS = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME_CHARS = 64
_ID_CHARS = 9
_ID_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

WireMessage = dict[str, Any]


def build_messages(
    messages: Sequence[ModelMessage], steps: Collection[Step] = ()
) -> list[WireMessage]:
    """Return messages as they are sent; what says nothing is left out, as many servers refuse it."""
    spoken = drop_empty(messages)
    if not steps:
        return [_to_wire(message) for message in spoken]
    if "reminder_in_result" in steps:
        spoken = [*_bridge_results(spoken)]
    return _shape([*map(_to_wire, _prepare(spoken, steps))], steps)


def drop_empty(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Leave out turns in which nobody said or asked for anything."""
    return [message for message in messages if not _is_empty(message)]


def neutralise(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Return messages of the same order and shape that hold no word of anybody: ours, and no secret.

    What a server refuses of these it refuses whatever is asked.
    """
    numbers: dict[str, str] = {}
    return [_neutralise(message, numbers) for message in messages]


def _is_empty(message: ModelMessage) -> bool:
    match message:
        case AssistantTurn(text=text, tool_calls=calls):
            return not (text.strip() or calls)
        case UserText(text=text, pictures=pictures):
            return not (text.strip() or pictures)
        case SystemText(text=text):
            return not text.strip()
        case ToolResult():
            return False


def _neutralise(message: ModelMessage, numbers: dict[str, str]) -> ModelMessage:
    match message:
        case SystemText():
            return SystemText(text="Be helpful.")
        case UserText(pictures=pictures, is_fleeting=is_fleeting):
            seen = tuple(
                replace(picture, content=_TINY_PNG, media_type="image/png") for picture in pictures
            )
            return UserText(text="Hello.", pictures=seen, is_fleeting=is_fleeting)
        case AssistantTurn(text=text, tool_calls=calls, given_back=given_back):
            neutral = [_neutralise_call(call, numbers) for call in calls]
            names = dict.fromkeys(given_back, REASONING_NOT_KEPT)
            said = "Hello." if text.strip() else ""
            return AssistantTurn(text=said, tool_calls=tuple(neutral), given_back=names)
        case ToolResult(call_id=call_id):
            return ToolResult(call_id=numbers.get(call_id, "call_0"), text="Done.")


def _neutralise_call(call: ToolCall, numbers: dict[str, str]) -> ToolCall:
    """Name calls anew, by ids of the form that they had."""
    shape = "".join("0" if char.isdigit() else "x" if char.isalpha() else char for char in call.id)
    number = f"{len(numbers)}"
    name = f"{shape[: -len(number)]}{number}" if len(shape) > len(number) else f"x{number}"
    numbers[call.id] = name
    return ToolCall(id=name, name="look_up", arguments="{}")


def _bridge_results(messages: Sequence[ModelMessage]) -> Iterator[ModelMessage]:
    """Let no user speak right after a tool: a reminder joins the result, a question follows an answer."""
    before: ModelMessage | None = None
    for message, after in zip_longest(messages, messages[1:]):
        if isinstance(message, ToolResult) and _is_reminder(after):
            text = f"{_fence(message)}\n\n{after.text}"
            yield replace(message, text=text, source=None)
        elif isinstance(before, ToolResult) and isinstance(message, UserText):
            if not _is_reminder(message):
                yield AssistantTurn(text=NO_ANSWER)
                yield message
        else:
            yield message
        before = message


def _is_reminder(message: ModelMessage | None) -> TypeGuard[UserText]:
    return isinstance(message, UserText) and message.is_fleeting and not message.pictures


def _prepare(messages: Sequence[ModelMessage], steps: Collection[Step]) -> Iterator[ModelMessage]:
    """Change what messages hold, one after the other."""
    hides_calls = "calls_as_text" in steps or "no_tools" in steps
    for message in messages:
        match message:
            case UserText(pictures=(_, *_)) if "no_pictures" in steps or "text_content" in steps:
                notes = [HIDDEN_PICTURE] * len(message.pictures)
                yield replace(message, text="\n".join([message.text, *notes]), pictures=())
            case AssistantTurn(tool_calls=(_, *_)) if hides_calls:
                lines = [
                    message.text,
                    *(f"(I called {c.name} with {c.arguments})" for c in message.tool_calls),
                ]
                yield AssistantTurn(text="\n".join(filter(None, lines)))
            case ToolResult() if hides_calls:
                yield UserText(text=f"(The call returned:)\n{_fence(message)}")
            case AssistantTurn(tool_calls=(_, *_)):
                yield _prepare_calls(message, steps)
            case ToolResult(call_id=call_id) if "short_ids" in steps:
                yield replace(message, call_id=_shorten_id(call_id))
            case _:
                yield message


def _prepare_calls(turn: AssistantTurn, steps: Collection[Step]) -> AssistantTurn:
    if "wordless_calls" in steps:
        turn = replace(turn, text="")
    if "short_ids" in steps:
        calls = (replace(call, id=_shorten_id(call.id)) for call in turn.tool_calls)
        turn = replace(turn, tool_calls=tuple(calls))
    if "no_reasoning_back" in steps:
        calls = (replace(call, given_back={}) for call in turn.tool_calls)
        return replace(turn, tool_calls=tuple(calls), given_back={})
    if "filled_reasoning" in steps and not turn.given_back:
        return replace(turn, given_back={"reasoning_content": REASONING_NOT_KEPT})
    return turn


def _shorten_id(call_id: str) -> str:
    """Return the same nine letters and digits for the same id, which is all that some servers take."""
    number = int.from_bytes(hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).digest()[:8])
    letters = []
    for _ in range(_ID_CHARS):
        number, n = divmod(number, len(_ID_ALPHABET))
        letters.append(_ID_ALPHABET[n])
    return "".join(letters)


def _to_wire(message: ModelMessage) -> WireMessage:
    match message:
        case SystemText(text=text):
            return {"role": "system", "content": text}
        case UserText(text=text, pictures=()):
            return {"role": "user", "content": text}
        case UserText(text=text, pictures=pictures):
            text_part = {"type": "text", "text": text}
            return {"role": "user", "content": [text_part, *map(_to_wire_picture, pictures)]}
        case ToolResult(call_id=call_id):
            return {"role": "tool", "tool_call_id": call_id, "content": _fence(message)}
        case AssistantTurn(text=text, tool_calls=()):
            return {"role": "assistant", "content": text}
        case AssistantTurn(text=text, tool_calls=calls, given_back=given_back):
            return {
                "role": "assistant",
                "content": text or None,
                **given_back,
                "tool_calls": [*map(_to_wire_call, calls)],
            }


def _fence(result: ToolResult) -> str:
    return fence_untrusted(result.text, result.source) if result.source else result.text


def _to_wire_picture(picture: Picture) -> WireMessage:
    url = f"data:{picture.media_type};base64,{b64encode(picture.content).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _to_wire_call(call: ToolCall) -> WireMessage:
    """Write a call as servers read it again: what a model wrote wrongly would be refused for good."""
    name = _NO_NAME_CHARS.sub("_", call.name)[:_MAX_NAME_CHARS] or "tool"
    function = {"name": name, "arguments": call.arguments if _is_object(call.arguments) else "{}"}
    return {"id": call.id, "type": "function", "function": function, **call.given_back}


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(from_json(arguments), dict)
    except ValueError:
        return False


def _shape(messages: list[WireMessage], steps: Collection[Step]) -> list[WireMessage]:
    """Put messages into the order that a template takes."""
    if "named_results" in steps:
        messages = _name_results(messages)
    if "single_calls" in steps:
        messages = _split_calls(messages)
    if "no_system_role" in steps:
        messages = _fold_system_texts(messages)
    elif "one_system_text" in steps:
        messages = _join_system_texts(messages)
    if "alternating" in steps or "no_system_role" in steps:
        messages = _alternate(messages)
    if "text_content" in steps:
        messages = [{**message, "content": message["content"] or ""} for message in messages]
    return messages


def _name_results(messages: Sequence[WireMessage]) -> list[WireMessage]:
    """Say with each result which tool gave it."""
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    names = {call["id"]: call["function"]["name"] for call in calls}
    return [
        {**m, "name": names.get(m["tool_call_id"], "tool")} if m["role"] == "tool" else m
        for m in messages
    ]


def _split_calls(messages: Sequence[WireMessage]) -> list[WireMessage]:
    """Let each call stand alone before its result."""
    results = {m["tool_call_id"]: m for m in messages if m["role"] == "tool"}
    placed: set[str] = set()
    split: list[WireMessage] = []
    for message in messages:
        calls = message.get("tool_calls", ())
        if len(calls) < 2:
            split += [] if message.get("tool_call_id") in placed else [message]
            continue
        for n, call in enumerate(calls):
            content = message["content"] if n == 0 else None
            split.append({**message, "content": content, "tool_calls": [call]})
            if call["id"] in results:
                split.append(results[call["id"]])
                placed.add(call["id"])
    return split


def _get_systems(messages: Sequence[WireMessage]) -> str:
    return "\n\n".join(str(m["content"]) for m in messages if m["role"] == "system")


def _join_system_texts(messages: Sequence[WireMessage]) -> list[WireMessage]:
    text = _get_systems(messages)
    rest = [message for message in messages if message["role"] != "system"]
    return [{"role": "system", "content": text}, *rest] if text else rest


def _fold_system_texts(messages: Sequence[WireMessage]) -> list[WireMessage]:
    """Begin the first message of the user with the instructions."""
    text = _get_systems(messages)
    rest = [message for message in messages if message["role"] != "system"]
    return [{"role": "user", "content": text}, *rest] if text else rest


def _alternate(messages: Sequence[WireMessage]) -> list[WireMessage]:
    """Join neighbours of one role, and let the user begin."""
    joined: list[WireMessage] = []
    for message in messages:
        last = joined[-1] if joined else {}
        if message["role"] in ("user", "assistant") and _can_join(last, message):
            joined[-1] = {**message, "content": _join_contents(last["content"], message["content"])}
        else:
            joined.append(message)
    first = next((n for n, m in enumerate(joined) if m["role"] != "system"), 0)
    if joined and joined[first]["role"] == "assistant":
        joined.insert(first, {"role": "user", "content": CHAT_BEGINS})
    return joined


def _can_join(last: WireMessage, message: WireMessage) -> bool:
    return last.get("role") == message["role"] and "tool_calls" not in last


def _join_contents(first: Any, second: Any) -> Any:
    if isinstance(first, list) or isinstance(second, list):
        return [*_list_parts(first), *_list_parts(second)]
    return "\n\n".join(filter(None, [first, second])) or None


def _list_parts(content: Any) -> list[Mapping[str, Any]]:
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
