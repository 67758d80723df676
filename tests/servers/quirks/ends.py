"""Quirks of ends: answers that end without one, or with one that nobody knows; errors inside a stream."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.servers.quirky_openai import (
    GREETING,
    End,
    Quirk,
    Reply,
    always,
    build_chunk,
    call,
    search_by_pieces,
    send_json,
    stream,
)

_GREETED = End(text=GREETING, calls=())
_TEXT = [build_chunk({"content": word}) for word in (GREETING[:5], GREETING[5:])]
_HALF = [build_chunk({"content": "Hello "}), build_chunk({"content": "An"})]
_CUT = End(text="Hello An", calls=(), reasons=("cut",))
_CUT_OR_GONE = End(text="Hello An", calls=(), reasons=("cut",), failures=("unavailable",))
_FILTERED = End(failures=("filtered",))
_EMPTY = End(failures=("unavailable", "malformed_answer"))


def _end(reason: Any, *, text: bool = True) -> Reply:
    return stream(*(_TEXT if text else ()), build_chunk(None, reason))


_WHOLE = (
    "stop",
    "eos",
    "eos_token",
    "end_turn",
    "STOP",
    "stop_sequence",
    "complete",
    "COMPLETE",
    "end",
)
_CUT_SHORT = (
    "length",
    "max_tokens",
    "MAX_TOKENS",
    "max_output_tokens",
    "model_context_window_exceeded",
)
_BROKEN = ("error", "network_error", "insufficient_system_resource", "abort", "cancelled", "OTHER")
_FILTERS = (
    "content_filter",
    "SAFETY",
    "safety",
    "sensitive",
    "content_filter: PROHIBITED_CONTENT",
    "PROHIBITED_CONTENT",
    "BLOCKLIST",
    "refusal",
    "content_filtered",
    "guardrail_intervened",
)

REASONS = (
    *(
        Quirk(
            id=name,
            source="vercel/ai#19165, CherryHQ/cherry-studio#16079: reasons of other makers",
            ask="greeting",
            play=always(_end(name)),
            end=_GREETED,
        )
        for name in _WHOLE
    ),
    *(
        Quirk(
            id=name,
            source="W33",
            ask="greeting",
            play=always(_end(name)),
            end=End(text=GREETING, calls=(), reasons=("length",)),
        )
        for name in _CUT_SHORT
    ),
    *(
        Quirk(
            id=name,
            source="CherryHQ/cherry-studio#16079, damianvtran/local-operator#223",
            ask="greeting",
            play=always(_end(name)),
            end=End(text=GREETING, calls=(), reasons=("cut",), failures=("unavailable",)),
        )
        for name in _BROKEN
    ),
    *(
        Quirk(
            id=name,
            source="CherryHQ/cherry-studio#16079: filters of other makers",
            ask="greeting",
            play=always(_end(name)),
            end=_FILTERED,
        )
        for name in _FILTERS
    ),
    Quirk(
        id="content_filter-at-once",
        source="Azure",
        ask="greeting",
        play=always(_end("content_filter", text=False)),
        end=_FILTERED,
    ),
    Quirk(
        id="repetition",
        source="a server that notices it itself",
        ask="greeting",
        play=always(_end("repetition")),
        end=End(text=GREETING, calls=(), reasons=("repetition", "cut")),
    ),
    Quirk(
        id="a-number",
        source="W09's kind",
        ask="greeting",
        play=always(_end(1)),
        end=_GREETED,
    ),
    Quirk(
        id="an-object",
        source="W09's kind: TGI's own route",
        ask="greeting",
        play=always(_end({"reason": "stop"})),
        end=_GREETED,
    ),
    Quirk(
        id="the-word-null-until-the-end",
        source="DashScope's own route",
        ask="greeting",
        play=always(
            stream(
                build_chunk({"content": GREETING[:5]}, "null"),
                build_chunk({"content": GREETING[5:]}, "null"),
                build_chunk(None, "stop"),
            )
        ),
        end=_GREETED,
    ),
    *(
        Quirk(
            id=f"malformed-call-{number}",
            source="mastra-ai/mastra#20302: Gemini",
            play=always(_end(reason, text=False)),
            end=_EMPTY,
            extra=1,
        )
        for number, reason in enumerate(
            ("MALFORMED_FUNCTION_CALL", "function_call_filter: MALFORMED_FUNCTION_CALL", "error")
        )
    ),
)

NO_REASONS = (
    Quirk(
        id="null-and-done",
        source="W15, vercel/ai#19165",
        ask="greeting",
        play=always(_end(None)),
        end=_GREETED,
    ),
    Quirk(id="empty-and-done", source="W15", ask="greeting", play=always(_end("")), end=_GREETED),
    Quirk(
        id="no-last-chunk-but-done",
        source="W15",
        ask="greeting",
        play=always(stream(*_TEXT)),
        end=_GREETED,
    ),
    Quirk(
        id="usage-and-done",
        source="variant of W15",
        ask="greeting",
        play=always(stream(*_TEXT, {"choices": [], "usage": {"prompt_tokens": 3}})),
        end=_GREETED,
    ),
    Quirk(
        id="text-and-nothing",
        source="anomalyco/opencode#39968",
        ask="greeting",
        play=always(stream(*_HALF, done=False)),
        end=_CUT,
    ),
    Quirk(
        id="text-and-a-broken-connection",
        source="preloop/preloop#117",
        ask="greeting",
        play=always(stream(*_HALF, done=False, breaks=True)),
        end=_CUT_OR_GONE,
    ),
    Quirk(
        id="text-and-half-a-chunk",
        source="anomalyco/opencode#39968",
        ask="greeting",
        play=always(stream(*_HALF, b'data: {"choices": [{"delta": {"con', done=False, breaks=True)),
        end=_CUT_OR_GONE,
    ),
    Quirk(
        id="a-thought-and-nothing",
        source="variant of anomalyco/opencode#39968",
        ask="greeting",
        play=always(stream(build_chunk({"reasoning_content": "Hm, "}), done=False)),
        end=_EMPTY,
    ),
    Quirk(
        id="a-thought-and-stop",
        source="variant: nothing was said",
        ask="greeting",
        play=always(stream(build_chunk({"reasoning_content": "Hm."}), build_chunk(None, "stop"))),
        end=_EMPTY,
    ),
    Quirk(
        id="stop-and-nothing-else",
        source="Gemini: empty answers",
        ask="greeting",
        play=always(_end("stop", text=False)),
        end=_EMPTY,
    ),
    Quirk(
        id="spaces-and-stop",
        source="variant: nothing was said",
        ask="greeting",
        play=always(stream(build_chunk({"content": "\n\n "}), build_chunk(None, "stop"))),
        end=_EMPTY,
    ),
    Quirk(
        id="half-a-call-and-nothing",
        source="anomalyco/opencode#39968",
        play=always(
            stream(
                build_chunk({"tool_calls": [call('{"query": "pl', index=0, id="a")]}), done=False
            )
        ),
        end=_EMPTY,
    ),
    Quirk(
        id="half-a-call-and-done",
        source="variant of anomalyco/opencode#39968",
        play=always(stream(build_chunk({"tool_calls": [call('{"query": "pl', index=0, id="a")]}))),
        end=_EMPTY,
    ),
    Quirk(
        id="words-and-half-a-call-and-nothing",
        source="anomalyco/opencode#39968",
        play=always(
            stream(
                build_chunk({"content": "Let me look."}),
                build_chunk({"tool_calls": [call('{"query": "pl', index=0, id="a")]}),
                done=False,
            )
        ),
        end=End(text="Let me look.", calls=(), reasons=("cut",), failures=("unavailable",)),
    ),
    Quirk(
        id="half-a-call-and-length",
        source="holds today",
        play=always(
            stream(
                build_chunk({"tool_calls": [call('{"query": "pl', index=0, id="a")]}),
                build_chunk(None, "length"),
            )
        ),
        end=End(text="", calls=(), reasons=("length",)),
    ),
    Quirk(
        id="a-whole-call-and-its-end-but-no-done",
        source="holds today",
        play=search_by_pieces(call(index=0, id="a")),
    ),
)

_MESSAGE = "The server had an error while processing your request."
_TOO_LONG = (
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the "
    "messages, 1000 in the completion). Please reduce the length of the messages or completion."
)
_GONE = End(failures=("unavailable",))
_LONG = End(failures=("too_long",), window_tokens=8_192)
_BUSY = End(failures=("busy",))
_UNEXPLAINED = End(failures=("other",))

# id, source, what is sent in the place of chunks, end; one for length may ask once more for a short answer
_ERRORS: Sequence[tuple[str, str, Mapping[str, Any] | bytes, End]] = (
    (
        "openai",
        "vercel/ai#1835",
        {"error": {"message": _MESSAGE, "type": "server_error", "param": None, "code": None}},
        _GONE,
    ),
    (
        "openrouter-502",
        "diegosouzapw/OmniRoute#8210",
        {
            "choices": [],
            "error": {"code": 502, "message": "Worker local total request limit reached (33/32)"},
        },
        _GONE,
    ),
    (
        "openrouter-finish",
        "damianvtran/local-operator#223",
        {
            "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
            "error": {"code": "server_error", "message": "Provider disconnected"},
        },
        _GONE,
    ),
    (
        "openrouter-429",
        "variant",
        {"error": {"code": 429, "message": "Rate limited upstream"}},
        _BUSY,
    ),
    (
        "openrouter-too-long",
        "dcdpr/jp#978",
        {
            "choices": [],
            "error": {"code": 400, "message": "prompt is too long: 9000 tokens > 8192 maximum"},
        },
        _LONG,
    ),
    ("text", "RamXX: agentjido/req_llm#661", {"error": _MESSAGE}, _GONE),
    ("text-too-long", "variant of agentjido/req_llm#661", {"error": _TOO_LONG}, _LONG),
    (
        "vllm",
        "vLLM",
        {
            "error": {
                "object": "error",
                "message": _TOO_LONG,
                "type": "BadRequestError",
                "code": 400,
            }
        },
        _LONG,
    ),
    (
        "older-vllm",
        "vLLM",
        {
            "object": "error",
            "message": _TOO_LONG,
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        _LONG,
    ),
    (
        "other-names",
        "NousResearch/hermes-agent#65738",
        {"choices": None, "error_type": "BadRequestError", "error_message": _TOO_LONG},
        _LONG,
    ),
    (
        "claude-overloaded",
        "Claude behind gateways",
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        _GONE,
    ),
    (
        "named-event",
        "servers with sse-starlette",
        b'event: error\ndata: {"message": "Internal error", "code": 500}\n\n',
        _GONE,
    ),
    (
        "llama-server",
        "older llama.cpp: a line that is no data",
        b'error: {"code": 500, "message": "Internal error", "type": "server_error"}\n\n',
        _GONE,
    ),
    (
        "dashscope",
        "DashScope's own route",
        (
            b"id:1\nevent:error\n:HTTP_STATUS/400\n"
            b'data:{"code":"InvalidParameter","message":"Range of input length should be [1, 8192]"}\n\n'
        ),
        _LONG,
    ),
    ("detail", "servers with FastAPI", {"detail": "Internal Server Error"}, _GONE),
    (
        "invalid-request",
        "holds today",
        {"error": {"message": "Bad", "type": "invalid_request_error", "code": "x"}},
        _UNEXPLAINED,
    ),
    (
        "quota",
        "variant",
        {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
        End(failures=("no_quota",)),
    ),
    (
        "filtered",
        "DashScope",
        {
            "error": {
                "message": "Output data may contain inappropriate content.",
                "code": "data_inspection_failed",
            }
        },
        _FILTERED,
    ),
)

ERRORS_INSIDE = (
    *(
        Quirk(
            id=name,
            source=source,
            ask="greeting",
            play=always(stream(error)),
            end=end,
            extra=2 * (end is _UNEXPLAINED) + (end is _LONG),
        )
        for name, source, error, end in _ERRORS
    ),
    *(
        Quirk(
            id=f"{name}-after-words",
            source=source,
            ask="greeting",
            play=always(stream(*_HALF, error)),
            end=_CUT_OR_GONE,
        )
        for name, source, error, end in _ERRORS
        if end is _GONE
    ),
    *(
        Quirk(
            id=f"{name}-as-one-json",
            source=source,
            ask="greeting",
            play=always(send_json(error)),
            end=end,
            extra=2 * (end is _UNEXPLAINED) + (end is _LONG),
        )
        for name, source, error, end in _ERRORS
        if isinstance(error, Mapping)
    ),
    Quirk(
        id="minimax-as-one-json",
        source="MiniMax: a status of its own in a 200",
        ask="greeting",
        play=always(
            send_json(
                {
                    "choices": None,
                    "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"},
                }
            )
        ),
        end=End(failures=("no_quota",)),
    ),
    Quirk(
        id="json-inside-the-message",
        source="1EchA: lbjlaq/Antigravity-Manager#1942",
        ask="greeting",
        play=always(
            stream(
                {
                    "error": {
                        "code": 400,
                        "message": json.dumps({"error": {"code": 400, "message": _TOO_LONG}}),
                        "status": "UPSTREAM_ERROR",
                    }
                }
            )
        ),
        end=_LONG,
        extra=1,
    ),
)
