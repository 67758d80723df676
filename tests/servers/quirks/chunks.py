"""Quirks of streams: odd chunks, odd bytes, and answers that are no stream of chunks."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.servers.quirky_openai import (
    GREETING,
    End,
    Quirk,
    Reply,
    always,
    behave,
    build_chunk,
    build_completion,
    build_text_chunks,
    encode_event,
    play_in_turn,
    send_json,
    send_text,
    stream,
)

_GREETED = End(text=GREETING, calls=())
_HELLO, _REST = GREETING[:5], GREETING[5:]
_TEXT = [build_chunk({"content": _HELLO}), build_chunk({"content": _REST})]
_STOP = build_chunk(None, "stop")
_FULL_USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
Event = Mapping[str, Any] | bytes


def _with_usage(usage: object) -> Sequence[Event]:
    return [*_TEXT, _STOP, {**build_chunk(), "choices": [], "usage": usage}]


def _put_between(*events: Event) -> Sequence[Event]:
    """Put odd events before, between and behind the words."""
    return [*events, _TEXT[0], *events, _TEXT[1], *events, _STOP]


def _raw(text: str) -> bytes:
    return text.encode()


def _choice(**fields: Any) -> Mapping[str, Any]:
    return {**build_chunk(), "choices": [{"index": 0, **fields}]}


_EVENTS: Mapping[str, tuple[str, Sequence[Event]]] = {
    "empty-data": ("W11", _put_between(b"data:\n\n")),
    "empty-data-and-a-space": ("W11", _put_between(b"data: \n\n")),
    "comments": ("holds today: OpenRouter", _put_between(b": OPENROUTER PROCESSING\n\n")),
    "pings": ("holds today", _put_between(b'event: ping\ndata: {"type": "ping"}\n\n')),
    "ids-and-retry": ("WHATWG: server-sent events", _put_between(b"id: 7\nretry: 3000\n\n")),
    "null": ("variant of W11", _put_between(b"data: null\n\n")),
    "a-number": ("variant of W11", _put_between(b"data: 1\n\n")),
    "a-text": ("variant of W11", _put_between(b'data: "ok"\n\n')),
    "an-empty-object": ("variant of W11", _put_between(b"data: {}\n\n")),
    "an-empty-list": ("variant of W11", _put_between(b"data: []\n\n")),
    "no-json": ("variant of W11", _put_between(b"data: hello\n\n")),
    "half-a-json": ("variant of W11", _put_between(b'data: {"choices": [{"del\n\n')),
    "null-delta": ("holds today", _put_between(_choice(delta=None, finish_reason=None))),
    "text-delta": ("variant of W09", _put_between(_choice(delta="", finish_reason=None))),
    "no-delta": ("holds today", _put_between(_choice(finish_reason=None))),
    "null-choices": ("NousResearch/hermes-agent#65738", _put_between({"choices": None})),
    "no-choices": ("variant", _put_between({"id": "chatcmpl-1"})),
    "null-choice": ("variant", _put_between({"choices": [None]})),
    "choices-as-object": ("variant of W09", _put_between({"choices": {"index": 0}})),
    "azure-first-chunk": (
        "holds today: Azure",
        [
            {
                "choices": [],
                "created": 0,
                "id": "",
                "model": "",
                "object": "",
                "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}],
            },
            *_TEXT,
            _STOP,
        ],
    ),
    "azure-filter-chunks": (
        "Azure: asynchronous filter",
        _put_between(
            {
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": None,
                        "content_filter_offsets": {"check_offset": 44},
                        "content_filter_results": {"hate": {"filtered": False}},
                    }
                ]
            }
        ),
    ),
    "null-content": (
        "holds today",
        _put_between(build_chunk({"role": "assistant", "content": None})),
    ),
    "empty-content": (
        "holds today",
        _put_between(build_chunk({"role": "assistant", "content": ""})),
    ),
    "all-fields-null": (
        "holds today",
        _put_between(
            build_chunk(
                {
                    "role": None,
                    "content": None,
                    "reasoning": None,
                    "reasoning_content": None,
                    "refusal": None,
                    "tool_calls": None,
                    "function_call": None,
                    "audio": None,
                    "annotations": None,
                }
            )
        ),
    ),
    "refusal-empty": ("variant", _put_between(build_chunk({"refusal": ""}))),
    "odd-envelope": (
        "variant of W09",
        [
            {**chunk, "id": 7, "created": "now", "model": None, "service_tier": 1, "object": None}
            for chunk in [*_TEXT, _STOP]
        ],
    ),
    "choice-index-as-text": (
        "variant of W09",
        [_choice(index="0", delta={"content": GREETING}, finish_reason="stop")],
    ),
    "second-choice": (
        "variant: n choices",
        [
            {
                "choices": [
                    {"index": 0, "delta": {"content": _HELLO}, "finish_reason": None},
                    {"index": 1, "delta": {"content": "Bye"}, "finish_reason": None},
                ]
            },
            {"choices": [{"index": 1, "delta": {"content": "!"}, "finish_reason": "stop"}]},
            _TEXT[1],
            _STOP,
        ],
    ),
    "content-in-parts": (
        "BerriAI/litellm#16272: Mistral",
        [
            build_chunk({"content": [{"type": "text", "text": _HELLO}]}),
            build_chunk({"content": [{"type": "text", "text": _REST}]}),
            _STOP,
        ],
    ),
    "content-as-object": (
        "chenyme/grok2api#222",
        [build_chunk({"content": {"type": "text", "text": GREETING}}), _STOP],
    ),
    "content-in-strings": ("variant", [build_chunk({"content": [_HELLO, _REST]}), _STOP]),
    "text-instead-of-delta": (
        "variant: completions",
        [_choice(text=_HELLO), _choice(text=_REST, finish_reason="stop")],
    ),
    "message-instead-of-delta": (
        "jjang-ai/vmlx#219",
        [build_completion({"content": GREETING})],
    ),
    "message-beside-delta": (
        "Perplexity: all so far in each chunk",
        [
            _choice(delta={"content": _HELLO}, message={"content": _HELLO}, finish_reason=None),
            _choice(delta={"content": _REST}, message={"content": GREETING}, finish_reason=None),
            _choice(delta={"content": ""}, message={"content": GREETING}, finish_reason="stop"),
        ],
    ),
    "whole-message-at-the-end": (
        "variant of jjang-ai/vmlx#219",
        [*_TEXT, build_completion({"content": GREETING})],
    ),
    "usage-null": ("holds today", _with_usage(None)),
    "usage-in-fractions": (
        "W09's kind",
        _with_usage({"prompt_tokens": 3.0, "completion_tokens": 5.0, "total_tokens": 8.5}),
    ),
    "usage-in-texts": (
        "W09's kind",
        _with_usage({"prompt_tokens": "3", "completion_tokens": "many"}),
    ),
    "usage-nulls": (
        "W09's kind",
        _with_usage({"prompt_tokens": None, "completion_tokens": 5, "prompt_tokens_details": None}),
    ),
    "usage-list": ("W09's kind", _with_usage([])),
    "usage-details-odd": (
        "W09's kind",
        _with_usage({**_FULL_USAGE, "prompt_tokens_details": {"cached_tokens": "all"}}),
    ),
    "usage-negative": ("W09's kind", _with_usage({"prompt_tokens": -1, "completion_tokens": -5})),
    "usage-in-each-chunk": (
        "vLLM: continuous usage",
        [{**chunk, "usage": _FULL_USAGE} for chunk in [*_TEXT, _STOP]],
    ),
    "usage-in-the-choice": (
        "Kimi",
        [*_TEXT, _choice(delta={}, finish_reason="stop", usage=_FULL_USAGE)],
    ),
    "usage-missing": ("holds today", [*_TEXT, _STOP]),
    "logprobs-odd": (
        "variant of W09",
        [*_TEXT, _choice(delta={}, logprobs=[1], finish_reason="stop")],
    ),
    "text-behind-done": (
        "holds today",
        [*_TEXT, _STOP, b"data: [DONE]\n\n", encode_event(build_chunk({"content": "More"}))],
    ),
    "text-behind-its-end": (
        "variant",
        [_TEXT[0], _STOP, _TEXT[1]],
    ),
    "an-end-in-each-chunk": (
        "variant",
        [build_chunk({"content": _HELLO}, "stop"), build_chunk({"content": _REST}, "stop")],
    ),
    "carriage-returns": (
        "WHATWG: server-sent events",
        [encode_event(chunk).replace(b"\n", b"\r\n") for chunk in [*_TEXT, _STOP]],
    ),
    "carriage-returns-alone": (
        "WHATWG: server-sent events",
        [encode_event(chunk).replace(b"\n", b"\r") for chunk in [*_TEXT, _STOP]],
    ),
    "no-space-behind-the-colon": (
        "WHATWG: server-sent events",
        [encode_event(chunk).replace(b"data: ", b"data:") for chunk in [*_TEXT, _STOP]],
    ),
    "one-line-break-between": (
        "variant",
        [encode_event(chunk)[:-1] for chunk in [*_TEXT, _STOP]],
    ),
    "data-in-two-lines": (
        "WHATWG: server-sent events",
        [
            encode_event(chunk).replace(b', "choices"', b',\ndata: "choices"')
            for chunk in [*_TEXT, _STOP]
        ],
    ),
    "event-names": (
        "variant",
        [b"event: message\n" + encode_event(chunk) for chunk in [*_TEXT, _STOP]],
    ),
    "byte-order-mark": (
        "WHATWG: server-sent events",
        [b"\xef\xbb\xbf" + encode_event(_TEXT[0]), _TEXT[1], _STOP],
    ),
    "single-bytes": (
        "holds today: UTF-8 cut anywhere",
        [bytes([byte]) for chunk in [*_TEXT, _STOP] for byte in encode_event(chunk)],
    ),
    "several-in-one-piece": ("variant", [b"".join(map(encode_event, [*_TEXT, _STOP]))]),
    "chunks-in-lists": (
        "W37's kind: Gemini",
        [_raw(f"data: [{json.dumps(chunk)}]\n\n") for chunk in [*_TEXT, _STOP]],
    ),
    "no-data-before-them": (
        "variant: JSON lines",
        [_raw(json.dumps(chunk) + "\n") for chunk in [*_TEXT, _STOP]],
    ),
    "done-without-a-space": ("variant", [*_TEXT, _STOP, b"data:[DONE]\n\n"]),
    "done-in-quotes": ("variant", [*_TEXT, _STOP, b'data: "[DONE]"\n\n']),
    "a-name-for-done": ("variant", [*_TEXT, _STOP, b"event: done\ndata: [DONE]\n\n"]),
}

EVENTS = (
    *(
        Quirk(id=name, source=source, ask="greeting", play=always(stream(*events)), end=_GREETED)
        for name, (source, events) in _EVENTS.items()
    ),
    Quirk(
        id="no-done",
        source="holds today",
        ask="greeting",
        play=always(stream(*_TEXT, _STOP, done=False)),
        end=_GREETED,
    ),
    Quirk(
        id="no-line-break-at-the-end",
        source="variant",
        ask="greeting",
        play=always(stream(*_TEXT, encode_event(_STOP).strip(), done=False)),
        end=_GREETED,
    ),
)

_UMLAUTS = "Grüße aus Köln 👋🏽 東京"
_ENCODED = json.dumps(
    {"choices": [{"index": 0, "delta": {"content": _UMLAUTS}, "finish_reason": "stop"}]},
    ensure_ascii=False,
).encode()


def _cut(data: bytes, size: int) -> Sequence[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


BYTES = (
    *(
        Quirk(
            id=f"utf-8-cut-at-{size}",
            source="holds today",
            ask="greeting",
            play=always(stream(*_cut(b"data: " + _ENCODED + b"\n\n", size))),
            end=End(text=_UMLAUTS, calls=()),
        )
        for size in (1, 2, 3, 7)
    ),
    Quirk(
        id="surrogates-in-two-chunks",
        source="variant: a letter cut in two by a tokenizer",
        ask="greeting",
        play=always(
            stream(
                build_chunk({"content": GREETING}),
                b'data: {"choices": [{"index": 0, "delta": {"content": "\\ud83d"}}]}\n\n',
                b'data: {"choices": [{"index": 0, "delta": {"content": "\\udc4b"}}]}\n\n',
                _STOP,
            )
        ),
        end=End(text=f"{GREETING}*", calls=()),
    ),
    Quirk(
        id="half-a-surrogate",
        source="variant: a letter cut in two by a tokenizer",
        ask="greeting",
        play=always(
            stream(
                build_chunk({"content": GREETING}),
                b'data: {"choices": [{"index": 0, "delta": {"content": "\\ud83d"}}]}\n\n',
                _STOP,
            )
        ),
        end=End(text=f"{GREETING}*", calls=()),
    ),
    Quirk(
        id="no-utf-8",
        source="variant: half a letter as bytes",
        ask="greeting",
        play=always(
            stream(
                build_chunk({"content": GREETING}),
                b'data: {"choices": [{"index": 0, "delta": {"content": "\xf0\x9f"}}]}\n\n',
                _STOP,
            )
        ),
        end=End(text=f"{GREETING}*", calls=()),
    ),
    Quirk(
        id="null-letter",
        source="variant",
        ask="greeting",
        play=always(stream(build_chunk({"content": f"{GREETING}\0"}), _STOP)),
        end=End(text=f"{GREETING}*", calls=()),
    ),
)

_THINKING = "Ann says hello."
THOUGHTS_IN_FIELDS = tuple(
    Quirk(
        id=name,
        source=source,
        ask="greeting",
        play=always(stream(*map(build_chunk, deltas), *_TEXT, _STOP)),
        end=End(text=GREETING, calls=(), reasoning=_THINKING),
    )
    for name, source, deltas in (
        ("reasoning_content", "holds today", [{"reasoning_content": _THINKING}]),
        ("reasoning", "holds today", [{"reasoning": _THINKING}]),
        (
            "both",
            "variant",
            [{"reasoning": "Ann says", "reasoning_content": "Ann says"}, {"reasoning": " hello."}],
        ),
        (
            "details-alone",
            "OpenRouter",
            [{"reasoning_details": [{"type": "reasoning.text", "text": _THINKING}]}],
        ),
        (
            "details-beside",
            "OpenRouter",
            [
                {
                    "reasoning": _THINKING,
                    "reasoning_details": [{"type": "reasoning.text", "text": _THINKING}],
                }
            ],
        ),
        (
            "parts",
            "BerriAI/litellm#16272: Mistral",
            [
                {
                    "content": [
                        {"type": "thinking", "thinking": [{"type": "text", "text": _THINKING}]}
                    ]
                }
            ],
        ),
        ("object", "variant of W09", [{"reasoning": {"content": _THINKING}}]),
        ("thinking", "variant: Ollama's own name", [{"thinking": _THINKING}]),
    )
)

_PAGE = "<!doctype html><html><head><title>Sign in</title></head><body>Welcome</body></html>"
_WRONG = End(failures=("wrong_server",))


def _send_stream(content_type: str | None, status: int = 200, *, encoding: str = "") -> Reply:
    data = b"".join(map(encode_event, [*_TEXT, _STOP])) + b"data: [DONE]\n\n"
    headers = {"content-type": content_type} if content_type else {}
    if encoding:
        data, headers["content-encoding"] = gzip.compress(data), encoding
    return Reply(status=status, headers=headers, pieces=[data])


ENVELOPES = tuple(
    Quirk(
        id=name,
        source="servers and proxies with other headers",
        ask="greeting",
        play=play,
        end=_GREETED,
    )
    for name, play in {
        "json-as-type": always(_send_stream("application/json")),
        "text-as-type": always(_send_stream("text/plain; charset=utf-8")),
        "page-as-type": always(_send_stream("text/html")),
        "no-type": always(_send_stream(None)),
        "binary-as-type": always(_send_stream("application/octet-stream")),
        "created": always(_send_stream("text/event-stream", 201)),
        "compressed": always(_send_stream("text/event-stream", encoding="gzip")),
        "one-json-as-stream-type": always(
            send_text(json.dumps(build_completion({"content": GREETING})), kind="text/event-stream")
        ),
        "one-json-as-text": always(
            send_text(json.dumps(build_completion({"content": GREETING})), kind="text/plain")
        ),
    }.items()
)

MOVED = tuple(
    Quirk(
        id=str(status),
        source="proxies that move an address",
        ask="greeting",
        play=play_in_turn(
            always(Reply(status=status, headers={"location": "completions"})), behave
        ),
        end=_GREETED,
        extra=1,
        is_kept=False,
    )
    for status in (307, 308)
)

NO_STREAMS = (
    Quirk(
        id="one-json",
        source="jjang-ai/vmlx#219",
        ask="greeting",
        play=always(send_json(build_completion({"content": GREETING}))),
        end=_GREETED,
    ),
    Quirk(
        id="one-json-with-all-fields",
        source="holds nowhere: a whole answer with a thought and usage",
        ask="greeting",
        play=always(
            send_json(
                {
                    **build_completion(
                        {"content": GREETING, "reasoning_content": _THINKING, "tool_calls": []}
                    ),
                    "usage": _FULL_USAGE,
                }
            )
        ),
        end=End(text=GREETING, calls=(), reasoning=_THINKING),
    ),
    Quirk(
        id="one-json-on-several-lines",
        source="variant",
        ask="greeting",
        play=always(
            send_text(
                json.dumps(build_completion({"content": GREETING}), indent=2),
                kind="application/json",
            )
        ),
        end=_GREETED,
    ),
    Quirk(
        id="one-json-in-a-list",
        source="W37's kind: Gemini",
        ask="greeting",
        play=always(send_json([build_completion({"content": GREETING})])),
        end=_GREETED,
    ),
    Quirk(
        id="one-json-cut-by-length",
        source="variant",
        ask="greeting",
        play=always(send_json(build_completion({"content": GREETING}, "length"))),
        end=End(text=GREETING, calls=(), reasons=("length",)),
    ),
    Quirk(
        id="one-json-with-a-thought",
        source="variant",
        ask="greeting",
        play=always(
            send_json(build_completion({"content": f"<think>{_THINKING}</think>\n{GREETING}"}))
        ),
        end=End(text=GREETING, calls=(), reasoning=_THINKING),
    ),
    Quirk(
        id="one-json-in-an-envelope",
        source="cline/cline#13348",
        ask="greeting",
        play=always(send_json({"success": True, "data": build_completion({"content": GREETING})})),
        end=_GREETED,
    ),
    Quirk(
        id="a-page",
        source="a wrong address",
        ask="greeting",
        play=always(send_text(_PAGE)),
        end=_WRONG,
    ),
    Quirk(
        id="a-page-for-structured",
        source="a wrong address",
        ask="structured",
        play=always(send_text(_PAGE)),
        end=_WRONG,
        extra=2,
    ),
    Quirk(
        id="a-page-not-found",
        source="a wrong address",
        ask="greeting",
        play=always(send_text("<html><h1>404 Not Found</h1><hr>nginx</html>", 404)),
        end=_WRONG,
    ),
    Quirk(
        id="text-not-found",
        source="a wrong address: servers in Go",
        ask="greeting",
        play=always(send_text("404 page not found", 404, kind="text/plain")),
        end=_WRONG,
    ),
    Quirk(
        id="detail-not-found",
        source="a wrong address: servers with FastAPI",
        ask="greeting",
        play=always(send_json({"detail": "Not Found"}, 404)),
        end=_WRONG,
    ),
    Quirk(
        id="method-not-allowed",
        source="a wrong address",
        ask="greeting",
        play=always(send_json({"detail": "Method Not Allowed"}, 405)),
        end=_WRONG,
    ),
    Quirk(
        id="a-text",
        source="a wrong address: Ollama's root",
        ask="greeting",
        play=always(send_text("Ollama is running", kind="text/plain")),
        end=_WRONG,
    ),
    Quirk(
        id="another-json",
        source="a wrong address",
        ask="greeting",
        play=always(send_json({"status": "ok", "version": "1.2"})),
        end=_WRONG,
    ),
    Quirk(
        id="nothing",
        source="a server that answers nothing",
        ask="greeting",
        play=always(Reply()),
        end=End(failures=("unavailable", "wrong_server")),
    ),
    Quirk(
        id="nothing-as-a-stream",
        source="a server that answers nothing",
        ask="greeting",
        play=always(stream(done=False)),
        end=End(failures=("unavailable",)),
    ),
    Quirk(
        id="done-alone",
        source="variant of W15",
        ask="greeting",
        play=always(stream()),
        end=End(failures=("unavailable", "malformed_answer")),
    ),
    Quirk(
        id="comments-alone",
        source="variant of W15: OpenRouter",
        ask="greeting",
        play=always(stream(b": OPENROUTER PROCESSING\n\n", done=False)),
        end=End(failures=("unavailable",)),
    ),
    Quirk(
        id="a-page-for-a-bad-gateway",
        source="nginx, Cloudflare",
        ask="greeting",
        play=always(send_text("<html><h1>502 Bad Gateway</h1></html>", 502)),
        end=End(failures=("unavailable",)),
    ),
)

MEGABYTE = 1_048_576


def _repeat(piece: bytes, size: int, start: bytes = b"") -> Iterator[bytes]:
    yield start
    for _ in range(size // len(piece)):
        yield piece


def _send_gigabyte(kind: str, piece: bytes, start: bytes = b"", status: int = 200) -> Reply:
    return Reply(
        status=status,
        headers={"content-type": kind},
        pieces=_repeat(piece, 1_024 * MEGABYTE, start),
    )


def _repeat_words(words: str, count: int) -> Reply:
    piece = encode_event(build_chunk({"content": words}))
    return Reply(
        headers={"content-type": "text/event-stream"}, pieces=_repeat(piece, count * len(piece))
    )


ENDLESS = (
    Quirk(
        id="a-line",
        source="a server that answers 1 GB",
        ask="greeting",
        play=lambda _: _send_gigabyte("text/event-stream", b"x" * MEGABYTE, b"data: "),
        end=End(failures=("malformed_answer", "wrong_server")),
    ),
    Quirk(
        id="a-page",
        source="a server that answers 1 GB",
        ask="greeting",
        play=lambda _: _send_gigabyte("text/html", b"<p>" * 300_000),
        end=End(failures=("malformed_answer", "wrong_server")),
    ),
    Quirk(
        id="a-json",
        source="a server that answers 1 GB",
        ask="greeting",
        play=lambda _: _send_gigabyte("application/json", b" " * MEGABYTE, b"{"),
        end=End(failures=("malformed_answer", "wrong_server")),
    ),
    Quirk(
        id="empty-lines",
        source="a server that answers 1 GB",
        ask="greeting",
        play=lambda _: _send_gigabyte("text/event-stream", b"\n" * MEGABYTE),
        end=End(failures=("malformed_answer", "wrong_server", "unavailable")),
    ),
    Quirk(
        id="a-refusal",
        source="a server that answers 1 GB",
        ask="greeting",
        play=lambda _: _send_gigabyte("application/json", b"x" * MEGABYTE, b'{"error": "', 400),
        end=End(failures=("other",)),
        extra=2,
    ),
    Quirk(
        id="the-same-words",
        source="part 4: a text that repeats itself",
        ask="greeting",
        play=lambda _: _repeat_words("I am sorry to hear that. ", 20_000),
        end=End(text="*", calls=(), reasons=("repetition",)),
    ),
    Quirk(
        id="the-same-lines",
        source="part 4: a text that repeats itself",
        ask="greeting",
        play=lambda _: _repeat_words(
            "- The plumber comes on Tuesday at nine in the morning.\n", 20_000
        ),
        end=End(text="*", calls=(), reasons=("repetition",)),
    ),
    Quirk(
        id="the-same-letter",
        source="part 4: a text that repeats itself",
        ask="greeting",
        play=lambda _: _repeat_words("!", 60_000),
        end=End(text="*", calls=(), reasons=("repetition",)),
    ),
)

REPEATING = tuple(
    Quirk(
        id=name,
        source="a text that repeats itself by right",
        ask="greeting",
        play=always(stream(*build_text_chunks(text))),
        end=End(text=text, calls=()),
    )
    for name, text in {
        "table": "| Day | Plumber |\n| --- | --- |\n"
        + "".join(f"| {n} | no |\n" for n in range(1, 29)).strip(),
        "list": "\n".join(f"- Call Ann about room {n}." for n in range(1, 40)),
        "line-of-dashes": "-" * 120,
        "refrain": "Row, row, row your boat\nGently down the stream\n" * 3 + "The end.",
        "laughter": "ha" * 30 + " that is funny.",
    }.items()
)
