"""Quirks of streamed calls: which piece belongs to which, and what a call is made of."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.servers.quirky_openai import (
    ANSWER,
    ARGUMENTS,
    ARGUMENTS_JSON,
    SEARCH,
    End,
    Play,
    Quirk,
    Received,
    Reply,
    always,
    behave,
    build_call_piece,
    build_chunk,
    build_completion,
    build_text_chunks,
    call,
    play_in_turn,
    refuse,
    search_by,
    search_by_pieces,
    send_json,
    stream,
)

_OTHER: Mapping[str, Any] = {"query": "boiler"}
_OTHER_JSON = json.dumps(_OTHER)
_BOTH = End(calls=(ARGUMENTS, _OTHER))
_NONE = End(calls=({},))
_START, _REST = '{"quer', 'y": "plumber"}'
_GEMINI = "openai/openai-python#2806"
_VARIANT = "variant of the entry above"


def _more(arguments: str, **fields: Any) -> dict[str, Any]:
    """Build a piece that has no name."""
    return build_call_piece(arguments=arguments, **fields)


def _repeat_ids() -> Any:
    """Refuse calls whose ids are not each other's: their results could not be told apart."""

    def play(received: Any) -> Reply:
        ids = [
            piece["id"]
            for message in received.body["messages"]
            for piece in message.get("tool_calls", ())
        ]
        if len(ids) != len(set(ids)):
            return send_json({"error": {"message": "tool_use ids must be unique"}}, 400)
        return play_twice(received)

    play_twice = search_by_pieces(
        call(index=0, id="call_0"), call(_OTHER_JSON, index=1, id="call_0")
    )
    return play


ASSEMBLY = (
    Quirk(
        id="index-0-and-empty-ids",
        source="W03: Gemini",
        play=search_by_pieces(
            call(index=0, id="", type="function"),
            call(_OTHER_JSON, index=0, id="", type="function"),
        ),
        end=_BOTH,
    ),
    Quirk(
        id="index-0-and-no-ids",
        source="W03: Gemini",
        play=search_by_pieces(call(index=0), call(_OTHER_JSON, index=0)),
        end=_BOTH,
    ),
    Quirk(
        id="index-0-and-an-id-per-piece",
        source="W05",
        play=search_by_pieces(
            call("", index=0, id="call-1"),
            _more(_START, index=0, id="call-2"),
            _more(_REST, index=0, id="call-3"),
        ),
    ),
    Quirk(
        id="no-index-in-later-pieces",
        source="W06",
        play=search_by_pieces(call(_START, index=0, id="x1"), _more(_REST)),
    ),
    Quirk(
        id="no-index-in-later-pieces-of-two",
        source=_VARIANT,
        play=search_by_pieces(
            call(_START, index=0, id="x1"),
            _more(_REST),
            call('{"query": ', index=1, id="x2"),
            _more('"boiler"}'),
        ),
        end=_BOTH,
    ),
    Quirk(id="no-index", source=_GEMINI, play=search_by_pieces(call(id="a"))),
    Quirk(
        id="no-index-two-calls",
        source="SamSaffron/term-llm#314",
        play=search_by_pieces(call(id="a"), call(_OTHER_JSON, id="b")),
        end=_BOTH,
    ),
    Quirk(
        id="null-index",
        source="Alishahryar1/free-claude-code#633",
        play=search_by_pieces(call(index=None, id="a"), call(_OTHER_JSON, index=None, id="b")),
        end=_BOTH,
    ),
    Quirk(
        id="null-index-and-no-ids",
        source=_VARIANT,
        play=search_by_pieces(call(index=None), call(_OTHER_JSON, index=None)),
        end=_BOTH,
    ),
    Quirk(
        id="two-calls-in-one-chunk-without-index",
        source="SamSaffron/term-llm#314",
        play=search_by({"tool_calls": [call(id="a"), call(_OTHER_JSON, id="b")]}),
        end=_BOTH,
    ),
    Quirk(
        id="two-calls-in-one-chunk-without-index-or-ids",
        source=_VARIANT,
        play=search_by({"tool_calls": [call(), call(_OTHER_JSON)]}),
        end=_BOTH,
    ),
    Quirk(
        id="index-as-text",
        source="variant of openai/openai-python#2806",
        play=search_by_pieces(
            call(_START, index="0", id="a"),
            _more(_REST, index="0"),
            call(_OTHER_JSON, index="1", id="b"),
        ),
        end=_BOTH,
    ),
    Quirk(
        id="index-as-text-later",
        source=_VARIANT,
        play=search_by_pieces(call(_START, index=0, id="a"), _more(_REST, index="0")),
    ),
    Quirk(
        id="index-as-fraction",
        source=_VARIANT,
        play=search_by_pieces(call(_START, index=0.0, id="a"), _more(_REST, index=0.0)),
    ),
    Quirk(
        id="index-from-1",
        source="mozilla-ai/any-llm#1148",
        play=search_by_pieces(
            call(_START, index=1, id="a"), _more(_REST, index=1), call(_OTHER_JSON, index=2, id="b")
        ),
        end=_BOTH,
    ),
    Quirk(
        id="index-minus-1",
        source="variant of Alishahryar1/free-claude-code#633",
        play=search_by_pieces(call(index=-1, id="a"), call(_OTHER_JSON, index=-1, id="b")),
        end=_BOTH,
    ),
    Quirk(
        id="index-0-and-empty-ids-later",
        source="InternLM/lmdeploy#3412: vLLM",
        play=search_by_pieces(
            call("", index=0, id="chatcmpl-tool-c9", type="function"),
            _more(_START, index=0, id=""),
            _more(_REST, index=0, id=""),
            call("", index=0, id="chatcmpl-tool-Hf", type="function"),
            _more(_OTHER_JSON, index=0, id=""),
        ),
        end=_BOTH,
    ),
    Quirk(
        id="index-0-and-ids-repeated",
        source="InternLM/lmdeploy#3412: SGLang",
        play=search_by_pieces(
            call("", index=0, id="0"),
            _more(ARGUMENTS_JSON, index=0, id="0"),
            call("", index=0, id="1"),
            _more(_OTHER_JSON, index=0, id="1"),
        ),
        end=_BOTH,
    ),
    Quirk(
        id="interleaved",
        source="holds today",
        play=search_by_pieces(
            call("", index=0, id="a"),
            call("", index=1, id="b"),
            _more(_START, index=0),
            _more('{"query": ', index=1),
            _more(_REST, index=0),
            _more('"boiler"}', index=1),
        ),
        end=_BOTH,
    ),
    Quirk(
        id="interleaved-without-ids",
        source=_VARIANT,
        play=search_by_pieces(
            call("", index=0),
            call("", index=1),
            _more(_START, index=0),
            _more('{"query": ', index=1),
            _more(_REST, index=0),
            _more('"boiler"}', index=1),
        ),
        end=_BOTH,
    ),
    Quirk(
        id="interleaved-by-id-alone",
        source=_VARIANT,
        play=search_by_pieces(
            call("", id="a"),
            call("", id="b"),
            _more(_START, id="a"),
            _more('{"query": ', id="b"),
            _more(_REST, id="a"),
            _more('"boiler"}', id="b"),
        ),
        end=_BOTH,
    ),
    Quirk(
        id="second-index-first",
        source=_VARIANT,
        play=search_by_pieces(call(_OTHER_JSON, index=1, id="b"), call(index=0, id="a")),
        end=_BOTH,
    ),
    Quirk(
        id="one-id-for-two-calls",
        source="ollama/ollama: ids counted anew in each answer",
        play=_repeat_ids(),
        end=_BOTH,
    ),
    Quirk(
        id="the-id-of-an-earlier-turn",
        source="editor-code-assistant/eca#233",
        play=search_by_pieces(call(index=0, id="call_h1")),
    ),
    Quirk(
        id="the-whole-call-again-at-the-end",
        source="variant of vllm-project/vllm#14951",
        play=search_by(
            {"tool_calls": [call(_START, index=0, id="a")]},
            {"tool_calls": [_more(_REST, index=0)]},
            {"tool_calls": [call(index=0, id="a")]},
        ),
    ),
    Quirk(
        id="the-whole-call-in-the-last-message",
        source="vllm-project/vllm#14951",
        play=lambda received: (
            behave(received)
            if received.knows_result
            else stream(
                build_chunk({"tool_calls": [call(index=0, id="a")]}),
                {
                    "choices": [
                        {
                            "index": 0,
                            "delta": {},
                            "message": {"role": "assistant", "tool_calls": [call(id="a")]},
                            "finish_reason": "tool_calls",
                        }
                    ]
                },
            )
        ),
    ),
    Quirk(
        id="with-its-end-in-one-chunk",
        source="ollama/ollama#5915",
        play=lambda received: (
            behave(received)
            if received.knows_result
            else stream(
                build_chunk(
                    {"role": "assistant", "content": "", "tool_calls": [call(index=0, id="a")]},
                    "tool_calls",
                )
            )
        ),
    ),
    Quirk(
        id="message-instead-of-delta",
        source="jjang-ai/vmlx#219",
        play=lambda received: (
            behave(received)
            if received.knows_result
            else stream(
                build_chunk({}, tool_call_generating=True),
                build_completion({"content": None, "tool_calls": [call(id="a")]}, "tool_calls"),
            )
        ),
    ),
    Quirk(
        id="as-one-json-instead-of-a-stream",
        source="jjang-ai/vmlx#219",
        play=lambda received: (
            behave(received)
            if received.knows_result
            else send_json(
                build_completion(
                    {"content": None, "tool_calls": [call(id="a", type="function")]}, "tool_calls"
                )
            )
        ),
    ),
    Quirk(
        id="end-is-stop",
        source="variant of ollama/ollama#5915: Gemini, Ollama",
        play=search_by_pieces(call(index=0, id="a"), finish_reason="stop"),
    ),
    Quirk(
        id="end-is-tool_use",
        source="Claude behind gateways",
        play=search_by_pieces(call(index=0, id="a"), finish_reason="tool_use"),
    ),
    Quirk(
        id="end-is-function_call",
        source="OpenAI, before tools",
        play=search_by_pieces(call(index=0, id="a"), finish_reason="function_call"),
    ),
    Quirk(
        id="no-end-but-done",
        source="W15: a whole call and [DONE]",
        play=search_by_pieces(call(index=0, id="a"), finish_reason=None),
    ),
    Quirk(
        id="function_call-in-pieces",
        source="OpenAI, before tools",
        play=search_by(
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": SEARCH, "arguments": ""},
            },
            {"function_call": {"arguments": _START}},
            {"function_call": {"arguments": _REST}},
            finish_reason="function_call",
        ),
    ),
    Quirk(
        id="function_call-whole",
        source="OpenAI, before tools",
        play=search_by(
            {"function_call": {"name": SEARCH, "arguments": ARGUMENTS_JSON}}, finish_reason="stop"
        ),
    ),
    Quirk(
        id="words-before-it",
        source="holds today",
        play=search_by({"content": "Let me look."}, {"tool_calls": [call(index=0, id="a")]}),
        end=End(text=f"Let me look.{ANSWER}"),
    ),
    Quirk(
        id="its-rest-behind-its-end",
        source="variant of ollama/ollama#5915",
        play=lambda received: (
            behave(received)
            if received.knows_result
            else stream(
                build_chunk({"tool_calls": [call(_START, index=0, id="a")]}, "tool_calls"),
                build_chunk({"tool_calls": [_more(_REST, index=0)]}),
            )
        ),
    ),
    Quirk(
        id="words-in-the-same-chunk",
        source="variant of jjang-ai/vmlx#219",
        play=search_by({"content": "Let me look.", "tool_calls": [call(index=0, id="a")]}),
        end=End(text=f"Let me look.{ANSWER}"),
    ),
    Quirk(
        id="and-the-same-as-text",
        source="livekit/agents-js#1632: the structured call fires, and its text leaks beside it",
        play=search_by(
            {
                "content": f'<tool_call>{{"name": "{SEARCH}", "arguments": {ARGUMENTS_JSON}}}</tool_call>'
            },
            {"tool_calls": [call(index=0, id="a")]},
        ),
    ),
    Quirk(
        id="three-in-one-chunk-with-index-0",
        source="variant of W03",
        play=search_by(
            {"tool_calls": [call(index=0), call(_OTHER_JSON, index=0), call("{}", index=0)]}
        ),
        end=End(calls=(ARGUMENTS, _OTHER, {})),
    ),
    Quirk(
        id="the-same-call-twice",
        source="variant of W03: a model may ask twice",
        play=search_by_pieces(call(index=0, id="a"), call(index=1, id="b")),
        end=End(calls=(ARGUMENTS, ARGUMENTS)),
    ),
    Quirk(
        id="tool_calls-is-no-list",
        source="variant: one call without its list",
        play=search_by({"tool_calls": call(index=0, id="a")}),
    ),
)

NAMES = (
    Quirk(
        id="in-every-piece",
        source="holds today",
        play=search_by_pieces(call(_START, index=0, id="a"), call(_REST, index=0, id="a")),
    ),
    Quirk(
        id="in-every-piece-without-ids",
        source="weicj/vLLM-2080Ti-Definitive#127",
        play=search_by_pieces(
            call('{"query": ', index=0), call('"plumber"', index=0), call("}", index=0)
        ),
    ),
    Quirk(
        id="in-an-empty-last-piece",
        source="weicj/vLLM-2080Ti-Definitive#127",
        play=search_by_pieces(call(_START, index=0), call(_REST, index=0), call("", index=0)),
    ),
    Quirk(
        id="in-an-empty-last-piece-with-its-id",
        source="vllm-project/vllm#14951",
        play=search_by_pieces(call(index=0, id="a"), call("", index=0, id="a")),
    ),
    Quirk(
        id="in-two-pieces",
        source="vllm-project/vllm#14951: clients join names",
        play=search_by_pieces(
            build_call_piece(index=0, id="a", name="search_"),
            build_call_piece(index=0, name="conversations"),
            _more(ARGUMENTS_JSON, index=0),
        ),
    ),
    Quirk(
        id="empty-in-later-pieces",
        source="DashScope",
        play=search_by_pieces(
            call("", index=0, id="call_1"),
            build_call_piece(index=0, id="", name="", arguments=_START),
            build_call_piece(index=0, id="", name="", arguments=_REST),
        ),
    ),
    Quirk(
        id="null-in-later-pieces",
        source="vllm-project/vllm#14951",
        play=search_by_pieces(
            call("", index=0, id="a", type="function"),
            build_call_piece(index=0, id=None, type=None, name=None, arguments=_START),
            build_call_piece(index=0, id=None, type=None, name=None, arguments=_REST),
        ),
    ),
    Quirk(
        id="after-the-id",
        source="sgl-project/sglang#4700",
        play=search_by_pieces(
            build_call_piece(index=0, id="a", type="function", name=None, arguments=""),
            build_call_piece(index=0, name=SEARCH),
            _more(ARGUMENTS_JSON, index=0),
        ),
    ),
    Quirk(
        id="channel-behind",
        source="W30, vllm-project/vllm#35906",
        play=search_by_pieces(call(index=0, id="a", name=f"{SEARCH}<|channel|>commentary")),
    ),
    Quirk(
        id="constrain-behind",
        source="vllm-project/vllm#35906",
        play=search_by_pieces(call(index=0, id="a", name=f"{SEARCH}<|constrain|>json")),
    ),
    Quirk(
        id="functions-before",
        source="W30",
        play=search_by_pieces(call(index=0, id="a", name=f"functions.{SEARCH}")),
    ),
    Quirk(
        id="functions-before-and-number-behind",
        source="MoonshotAI/Kimi-K2#100",
        play=search_by_pieces(call(index=0, id="a", name=f"functions.{SEARCH}:0")),
    ),
    Quirk(
        id="default_api-before",
        source="nanbingxyz/5ire#405: Gemini",
        play=search_by_pieces(call(index=0, id="a", name=f"default_api.{SEARCH}")),
    ),
    Quirk(
        id="default_api-and-colon-before",
        source="nanbingxyz/5ire#405: Gemini",
        play=search_by_pieces(call(index=0, id="a", name=f"default_api:{SEARCH}")),
    ),
    Quirk(
        id="spaces-around",
        source="variant of W30",
        play=search_by_pieces(call(index=0, id="a", name=f" {SEARCH}\n")),
    ),
    Quirk(
        id="recipient-before",
        source="vllm-project/vllm#35906",
        play=search_by_pieces(call(index=0, id="a", name=f"assistant to=functions.{SEARCH}")),
    ),
    Quirk(
        id="an-unknown-tool",
        source="NorthlandPositronics/Cogtrix#2023: the model is told",
        play=play_in_turn(search_by_pieces(call(index=0, id="a", name="query_rag")), behave),
        extra=1,
        is_kept=False,
    ),
)

_WRONG = End(calls=(ARGUMENTS,))


def _try_again(arguments: Any) -> Any:
    """Write arguments that are no JSON object, and right ones once that is said."""
    wrong = search_by_pieces(call(arguments, index=0, id="a"))
    return lambda received: wrong(received) if received.number % 3 == 0 else behave(received)


ARGUMENT_FORMS = (
    Quirk(
        id="an-object",
        source="W09",
        play=search_by_pieces(call(ARGUMENTS, index=0, id="a")),
    ),
    Quirk(
        id="an-object-in-a-message",
        source="variant of W09",
        play=lambda received: (
            behave(received)
            if received.knows_result
            else send_json(
                build_completion({"tool_calls": [call(ARGUMENTS, id="a")]}, "tool_calls")
            )
        ),
    ),
    Quirk(
        id="null",
        source="vllm-project/vllm#9693",
        play=search_by_pieces(call(None, index=0, id="a")),
        end=_NONE,
    ),
    Quirk(
        id="null-in-the-first-piece",
        source="vllm-project/vllm#9693",
        play=search_by_pieces(call(None, index=0, id="a"), _more(ARGUMENTS_JSON, index=0)),
    ),
    Quirk(
        id="empty",
        source="holds today",
        play=search_by_pieces(call("", index=0, id="a")),
        end=_NONE,
    ),
    Quirk(
        id="missing",
        source="vllm-project/vllm#9693",
        play=search_by_pieces(build_call_piece(index=0, id="a", name=SEARCH)),
        end=_NONE,
    ),
    Quirk(
        id="the-word-null",
        source="variant of vllm-project/vllm#9693",
        play=search_by_pieces(call("null", index=0, id="a")),
        end=_NONE,
    ),
    Quirk(
        id="spaces-around",
        source="holds today",
        play=search_by_pieces(call(f"\n {ARGUMENTS_JSON} \n", index=0, id="a")),
    ),
    Quirk(
        id="an-empty-object-before-the-pieces",
        source="variant of vllm-project/vllm#9693: Claude behind gateways",
        play=search_by_pieces(call("{}", index=0, id="a"), _more(ARGUMENTS_JSON, index=0)),
    ),
    *(
        Quirk(id=name, source="holds today", play=_try_again(text), extra=1, is_kept=False)
        for name, text in {
            "fenced": f"```json\n{ARGUMENTS_JSON}\n```",
            "single-quotes": "{'query': 'plumber'}",
            "trailing-comma": '{"query": "plumber",}',
            "encoded-twice": json.dumps(ARGUMENTS_JSON),
            "a-list": "[1]",
            "cut": '{"query": "plum',
            "two-objects": '{"query": "plumber"}{"query": "plumber"}',
        }.items()
    ),
)


def _refuse_history(
    is_odd: Callable[[Mapping[str, Any]], bool], refusal: Reply, first: Play
) -> Play:
    """Search in a wrong way, refuse what then stands in the history, and search rightly."""

    def play(received: Received) -> Reply:
        functions = [
            piece["function"]
            for message in received.body["messages"]
            for piece in message.get("tool_calls") or ()
        ]
        if any(map(is_odd, functions)):
            return refusal
        return first(received) if len(functions) == _EARLIER_CALLS else behave(received)

    return play


_EARLIER_CALLS = 1


def _is_no_json(function: Mapping[str, Any]) -> bool:
    try:
        return not isinstance(json.loads(function["arguments"]), dict)
    except ValueError:
        return True


def _has_odd_name(function: Mapping[str, Any]) -> bool:
    return re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"]) is None


_CUT_CALL = search_by_pieces(call('{"query": "plum', index=0, id="a"))
_ODD_CALL = search_by_pieces(call(index=0, id="a", name="web search: plumber"))
HISTORY = (
    *(
        Quirk(
            id=f"broken-arguments-{name}",
            source=source,
            play=_refuse_history(_is_no_json, refusal, _CUT_CALL),
            extra=1,
            steps=1,
            is_kept=False,
        )
        for name, source, refusal in (
            (
                "vllm",
                "vLLM: its templates parse them",
                refuse("Unterminated string starting at: line 1 column 11 (char 10)", code=400),
            ),
            (
                "llama-server",
                "llama.cpp",
                send_json(
                    {
                        "error": {
                            "code": 500,
                            "message": "Failed to parse tool call arguments as JSON: "
                            "[json.exception.parse_error.101] parse error at line 1, column 16: syntax error "
                            "while parsing value - invalid string: missing closing quote",
                            "type": "server_error",
                        }
                    },
                    500,
                ),
            ),
            (
                "ollama",
                "Ollama",
                refuse("invalid tool call arguments: unexpected end of JSON input"),
            ),
            (
                "claude",
                "Claude behind gateways",
                refuse("messages.9.content.0.tool_use.input: Input should be a valid dictionary"),
            ),
        )
    ),
    *(
        Quirk(
            id=f"odd-name-{name}",
            source=source,
            play=_refuse_history(_has_odd_name, refusal, _ODD_CALL),
            extra=1,
            steps=1,
            is_kept=False,
        )
        for name, source, refusal in (
            (
                "openai",
                "OpenAI",
                refuse(
                    "Invalid 'messages[9].tool_calls[0].function.name': string does not match pattern. Expected "
                    "a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
                    param="messages[9].tool_calls[0].function.name",
                    code="invalid_value",
                ),
            ),
            (
                "claude",
                "Claude behind gateways",
                refuse(
                    "messages.9.content.0.tool_use.name: String should match pattern "
                    "'^[a-zA-Z0-9_-]{1,128}$'"
                ),
            ),
        )
    ),
)

NO_CALLS = (
    *(
        Quirk(
            id=name,
            source=source,
            play=always(
                stream(
                    *build_text_chunks(ANSWER, None),
                    build_chunk({"tool_calls": pieces}),
                    build_chunk(None, "stop"),
                )
            ),
            end=End(calls=()),
        )
        for name, source, pieces in (
            ("an-empty-list", "holds today", []),
            ("null", "holds today", None),
            ("an-empty-piece", "variant of the entry above", [{}]),
            ("a-null-piece", "variant of the entry above", [None]),
            (
                "a-piece-of-empty-texts",
                "DashScope",
                [build_call_piece(index=0, id="", name="", arguments="")],
            ),
        )
    ),
    Quirk(
        id="end-is-tool_calls",
        source="MoonshotAI/Kimi-K2#100",
        play=lambda _: stream(*build_text_chunks(ANSWER, "tool_calls")),
        end=End(calls=()),
    ),
    Quirk(
        id="end-is-tool_calls-and-nothing-else",
        source="MoonshotAI/kimi-cli#443",
        play=lambda _: stream(build_chunk(None, "tool_calls")),
        end=End(failures=("unavailable", "malformed_answer")),
    ),
)

IDS = (
    Quirk(
        id="a-number",
        source="variant of InternLM/lmdeploy#3412",
        play=search_by_pieces(call(_START, index=0, id=17), _more(_REST, index=0, id=17)),
    ),
    Quirk(
        id="null",
        source="vllm-project/vllm#18412",
        play=search_by_pieces(call(_START, index=0, id=None), _more(_REST, index=0, id=None)),
    ),
    Quirk(
        id="only-in-the-last-piece",
        source="variant of vllm-project/vllm#18412",
        play=search_by_pieces(call(_START, index=0), _more(_REST, index=0, id="a")),
    ),
    Quirk(
        id="120-characters",
        source="AnswerDotAI/fastllm#45",
        play=search_by_pieces(call(index=0, id="x" * 120)),
    ),
    Quirk(
        id="a-name-and-a-number",
        source="MoonshotAI/Kimi-K2#100",
        play=search_by_pieces(call(index=0, id=f"functions.{SEARCH}:0")),
    ),
)
