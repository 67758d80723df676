"""Quirks of fields that come with a call: servers that want them back, and servers that refuse them."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.servers.quirky_openai import (
    Body,
    End,
    Play,
    Quirk,
    Received,
    Reply,
    behave,
    build_chunk,
    call,
    refuse,
    search_by,
    send_json,
    stream,
)

_THOUGHT = ("I should ", "look for\n", "the plumber.")
_WHOLE_THOUGHT = "".join(_THOUGHT)
_SIGNATURE = {"google": {"thought_signature": "CpcBAdHtim9…+/=="}}
_CALL = {"tool_calls": [call(index=0, id="call_a1", type="function")]}
_THOUGHTFUL = End(reasoning="look for\nthe plumber")

Check = Callable[[Mapping[str, Any]], bool]


def list_calling_messages(body: Body) -> Sequence[Mapping[str, Any]]:
    """Return the messages with calls since the last question of the owner."""
    messages = body["messages"]
    question = max(
        n
        for n, message in enumerate(messages)
        if message["role"] == "user" and "<reminder>" not in json.dumps(message["content"])
    )
    return [message for message in messages[question:] if message.get("tool_calls")]


def want_back(check: Check, refusal: Reply, *deltas: Mapping[str, Any]) -> Play:
    """Search with these deltas, and refuse the result without what came with the call."""

    def play(received: Received) -> Reply:
        calling = list_calling_messages(received.body)
        if received.knows_result and not (calling and all(map(check, calling))):
            return refusal
        return search(received)

    search = search_by(*deltas)
    return play


def refuse_fields(names: Sequence[str], refusal: Reply, *deltas: Mapping[str, Any]) -> Play:
    """Search with these deltas, and refuse messages that hold one of the fields."""

    def play(received: Received) -> Reply:
        messages = received.body["messages"]
        if any(name in message for message in messages for name in names):
            return refusal
        return search(received)

    search = search_by(*deltas)
    return play


def _think(field: str) -> Sequence[Mapping[str, Any]]:
    return [{field: piece} for piece in _THOUGHT]


def _has(field: str) -> Check:
    return lambda message: message.get(field) == _WHOLE_THOUGHT


def _has_details(message: Mapping[str, Any]) -> bool:
    details = message.get("reasoning_details")
    if not isinstance(details, list):
        return False
    texts = "".join(detail.get("text") or "" for detail in details)
    return texts == _WHOLE_THOUGHT and any(detail.get("signature") == "sig==" for detail in details)


def _detail(**fields: Any) -> Mapping[str, Any]:
    detail = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0, **fields}
    return {"reasoning": fields.get("text", ""), "reasoning_details": [detail]}


def _signs_its_calls(field: str, value: object) -> Check:
    def check(message: Mapping[str, Any]) -> bool:
        first, *others = message["tool_calls"]
        return first.get(field) == value and all(field not in other for other in others)

    return check


def _misses_reasoning(received: Received) -> bool:
    return any(
        message.get("tool_calls") and "reasoning_content" not in message
        for message in received.body["messages"]
    )


_MISSING_SIGNATURE = send_json(
    [
        {
            "error": {
                "code": 400,
                "message": "Function call is missing a thought_signature in functionCall parts. This is "
                "required for tools to work correctly, and missing thought_signature may lead to degraded "
                "model performance. Additional data, function call `default_api:search_conversations` , "
                "position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for "
                "more details.",
                "status": "INVALID_ARGUMENT",
            }
        }
    ],
    400,
)
_SEARCH_TWICE_SIGNED = (
    {
        "tool_calls": [
            call(index=0, id="call_a1", extra_content=_SIGNATURE),
            call(index=1, id="call_a2"),
        ]
    },
)

WANTED = (
    Quirk(
        id="reasoning_content-deepseek",
        source="W18, continuedev/continue#11285",
        play=want_back(
            _has("reasoning_content"),
            refuse(
                "Missing `reasoning_content` field in the assistant message at message index 9. For more "
                "information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
                code="invalid_request_error",
            ),
            *_think("reasoning_content"),
            _CALL,
        ),
        end=_THOUGHTFUL,
    ),
    Quirk(
        id="reasoning_content-kimi",
        source="Kimi",
        play=want_back(
            _has("reasoning_content"),
            refuse(
                "thinking is enabled but reasoning_content is missing in assistant tool call message at "
                "index 9"
            ),
            *_think("reasoning_content"),
            _CALL,
        ),
        end=_THOUGHTFUL,
    ),
    Quirk(
        id="reasoning",
        source="QwenLM/qwen-code#11045: Cerebras takes reasoning back, and refuses reasoning_content",
        play=want_back(
            lambda message: _has("reasoning")(message) and "reasoning_content" not in message,
            refuse(
                "messages.9.assistant.reasoning_content: property "
                "'messages.9.assistant.reasoning_content' is unsupported",
                param="validation_error",
                code="wrong_api_format",
            ),
            *_think("reasoning"),
            _CALL,
        ),
        end=_THOUGHTFUL,
    ),
    Quirk(
        id="reasoning_details",
        source="OpenRouter: Claude",
        play=want_back(
            _has_details,
            refuse(
                "messages.5.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                "`tool_use`. When `thinking` is enabled, a final `assistant` message must start with a "
                "thinking block."
            ),
            *(_detail(text=piece) for piece in _THOUGHT),
            _detail(signature="sig=="),
            _CALL,
        ),
        end=_THOUGHTFUL,
    ),
    Quirk(
        id="thought-signature",
        source="manthanabc/paws#103: Gemini",
        play=want_back(
            _signs_its_calls("extra_content", _SIGNATURE),
            _MISSING_SIGNATURE,
            {"tool_calls": [call(index=0, id="call_a1", extra_content=_SIGNATURE)]},
        ),
    ),
    Quirk(
        id="thought-signature-of-the-first-of-two",
        source="ai.google.dev/gemini-api/docs/thought-signatures",
        play=want_back(
            _signs_its_calls("extra_content", _SIGNATURE),
            _MISSING_SIGNATURE,
            *_SEARCH_TWICE_SIGNED,
        ),
        end=End(calls=({"query": "plumber"}, {"query": "plumber"})),
    ),
    Quirk(
        id="thought-signature-in-a-later-piece",
        source="variant of manthanabc/paws#103",
        play=want_back(
            _signs_its_calls("extra_content", _SIGNATURE),
            _MISSING_SIGNATURE,
            {"tool_calls": [call(index=0, id="call_a1")]},
            {"tool_calls": [{"index": 0, "extra_content": _SIGNATURE}]},
        ),
    ),
    Quirk(
        id="fields-of-a-gateway",
        source="LiteLLM: Gemini",
        play=want_back(
            _signs_its_calls("provider_specific_fields", {"thought_signature": "abc=="}),
            refuse("Function call is missing a thought_signature in functionCall parts."),
            {
                "tool_calls": [
                    call(
                        index=0,
                        id="call_a1",
                        provider_specific_fields={"thought_signature": "abc=="},
                    )
                ]
            },
        ),
    ),
    Quirk(
        id="reasoning_content-of-earlier-turns-too",
        source="continuedev/continue#11285: an empty one is accepted",
        play=lambda received: (
            refuse(
                "Missing `reasoning_content` field in the assistant message at message index 5. For more "
                "information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls"
            )
            if _misses_reasoning(received)
            else behave(received)
        ),
        steps=1,
    ),
)


def _search_in_two_cycles(received: Received) -> Reply:
    """Think and search twice, one after the other, and want both thoughts back."""
    calling = list_calling_messages(received.body)
    if [message.get("reasoning_content") for message in calling] != _TWO_THOUGHTS[: len(calling)]:
        return refuse(
            "Missing `reasoning_content` field in the assistant message at message index 9."
        )
    if len(calling) == len(_TWO_THOUGHTS):
        return behave(received)
    thought = {"reasoning_content": _TWO_THOUGHTS[len(calling)]}
    number = {"index": 0, "id": f"call_a{len(calling)}"}
    return stream(
        build_chunk(thought),
        build_chunk({"tool_calls": [call(**number)]}),
        build_chunk(None, "tool_calls"),
    )


_TWO_THOUGHTS = ["First the plumber.", "Then once more."]
_ENCRYPTED = {"type": "reasoning.encrypted", "data": "gAAAA==", "id": "rs_1", "index": 0}
MORE_WANTED = (
    Quirk(
        id="of-two-cycles",
        source="variant of W18",
        play=_search_in_two_cycles,
        end=End(calls=({"query": "plumber"}, {"query": "plumber"})),
        extra=1,
    ),
    Quirk(
        id="encrypted-details",
        source="OpenRouter: OpenAI's models",
        play=want_back(
            lambda message: message.get("reasoning_details") == [_ENCRYPTED],
            refuse(
                "Item 'rs_1' of type 'reasoning' was provided without its required following item."
            ),
            {"reasoning_details": [_ENCRYPTED]},
            _CALL,
        ),
    ),
    Quirk(
        id="details-without-words",
        source="variant of OpenRouter: a summary and its signature",
        play=want_back(
            lambda message: "sig==" in json.dumps(message.get("reasoning_details", "")),
            refuse("Expected `thinking` or `redacted_thinking`, but found `tool_use`."),
            {"reasoning_details": [{"type": "reasoning.summary", "summary": "Hm.", "index": 0}]},
            {"reasoning_details": [{"type": "reasoning.text", "signature": "sig==", "index": 1}]},
            _CALL,
        ),
    ),
    Quirk(
        id="a-deleted-field-of-the-call",
        source="variant of LiteLLM: null fields are none",
        play=search_by({"tool_calls": [call(index=0, id="call_a1", extra_content=None)]}),
    ),
)

REFUSED = tuple(
    Quirk(
        id=name,
        source=source,
        play=refuse_fields(names, refusal, *_think("reasoning_content"), _CALL),
        end=_THOUGHTFUL,
        steps=1,
        is_unexplained=name == "without-words",
    )
    for name, source, names, refusal in (
        (
            "cerebras",
            "egoist/chatwise-releases#1442",
            ("reasoning_content",),
            send_json(
                {
                    "message": "messages.9.assistant.reasoning_content: property "
                    "'messages.9.assistant.reasoning_content' is unsupported",
                    "type": "invalid_request_error",
                    "param": "validation_error",
                    "code": "wrong_api_format",
                },
                400,
            ),
        ),
        (
            "groq",
            "janhq/jan#8136",
            ("reasoning_content", "reasoning"),
            refuse(
                "'messages.9' : for 'role:assistant' the following must be satisfied[('messages.9' : "
                "property 'reasoning_content' is unsupported)]"
            ),
        ),
        (
            "mistral",
            "nomtek/mistralai_client_dart#44",
            ("reasoning_content", "reasoning"),
            send_json(
                {
                    "object": "error",
                    "message": {
                        "detail": [
                            {
                                "type": "extra_forbidden",
                                "loc": ["body", "messages", 9, "assistant", "reasoning_content"],
                                "msg": "Extra inputs are not permitted",
                                "input": "…",
                            }
                        ]
                    },
                    "type": "invalid_request_error",
                    "param": None,
                    "code": None,
                },
                422,
            ),
        ),
        (
            "without-words",
            "QwenLM/qwen-code#11045: a 400 without a body",
            ("reasoning_content",),
            Reply(status=400),
        ),
    )
)
