"""Quirks of structured answers: ways to ask that are refused, and ways to answer."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tests.servers.quirky_openai import (
    TITLE,
    TITLE_JSON,
    Body,
    End,
    Play,
    Quirk,
    Received,
    Reply,
    always,
    behave,
    build_chunk,
    build_completion,
    build_text_chunks,
    encode_event,
    play_in_turn,
    refuse,
    refuse_if,
    say,
    send_json,
    stream,
)

_READ = End(calls=())
_UNUSABLE = End(failures=("malformed_answer",))
_BOUNDS = frozenset(
    {"maxLength", "minLength", "maxItems", "minItems", "pattern", "format", "minimum", "maximum"}
)
Rule = Callable[[Body], bool]


def _get_form(body: Body) -> str:
    return str(body.get("response_format", {}).get("type", "text"))


def _asks(*forms: str) -> Rule:
    return lambda body: _get_form(body) in forms


def _has_format(body: Body) -> bool:
    return "response_format" in body


def list_keywords(schema: Any) -> Iterator[str]:
    """Yield every keyword of a schema; names of properties are none."""
    if isinstance(schema, list):
        for part in schema:
            yield from list_keywords(part)
    if not isinstance(schema, Mapping):
        return
    for key, value in schema.items():
        yield key
        if key in ("properties", "$defs"):
            for part in value.values():
                yield from list_keywords(part)
        else:
            yield from list_keywords(value)


def _get_schema(body: Body) -> Any:
    return body.get("response_format", {}).get("json_schema", {}).get("schema", {})


def _has_keywords(keywords: frozenset[str]) -> Rule:
    return lambda body: bool(keywords & {*list_keywords(_get_schema(body))})


def _misses_word_json(body: Body) -> bool:
    """Tell whether JSON is asked for without the word in the prompt."""
    return _get_form(body) == "json_object" and "json" not in json.dumps(body["messages"]).lower()


def _refuse_first(first: Rule, refusal: Reply, then: Rule, second: Reply) -> Play:
    return refuse_if(first, refusal, refuse_if(then, second))


_NO_SCHEMA = refuse("This response_format type is unavailable now")
_WORD = "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."

# id, source, rule, refusal, steps
_REFUSED: Sequence[tuple[str, str, Rule, Reply, int]] = (
    ("json_schema-deepseek", "W26", _asks("json_schema"), _NO_SCHEMA, 1),
    (
        "json_schema-openai",
        "OpenAI's older models",
        _asks("json_schema"),
        refuse(
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. "
            "Learn more about supported models at the Structured Outputs guide.",
            param="response_format",
        ),
        1,
    ),
    (
        "json_schema-groq",
        "Groq",
        _asks("json_schema"),
        refuse(
            "This model does not support response format `json_schema`. See supported models at "
            "https://console.groq.com/docs/structured-outputs#supported-models",
            param="response_format",
        ),
        1,
    ),
    (
        "json_schema-azure",
        "Azure",
        _asks("json_schema"),
        refuse(
            "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and "
            "later",
            code="BadRequest",
        ),
        1,
    ),
    (
        "json_schema-serde",
        "servers in Rust",
        _asks("json_schema"),
        Reply(
            status=422,
            headers={"content-type": "text/plain"},
            pieces=[
                (
                    b"Failed to deserialize the JSON body into the target type: response_format.type: unknown "
                    b"variant `json_schema`, expected `text` or `json_object` at line 1 column 512"
                )
            ],
        ),
        1,
    ),
    (
        "json_schema-pydantic",
        "servers with pydantic",
        _asks("json_schema"),
        send_json(
            {
                "detail": [
                    {
                        "type": "literal_error",
                        "loc": ["body", "response_format", "type"],
                        "msg": "Input should be 'text' or 'json_object'",
                        "input": "json_schema",
                    }
                ]
            },
            422,
        ),
        1,
    ),
    (
        "json_schema-in-a-500",
        "variant of W26",
        _asks("json_schema"),
        send_json({"error": {"message": "response_format json_schema not implemented"}}, 501),
        1,
    ),
    (
        "any-format-openai",
        "variant of W26",
        _has_format,
        refuse("Unrecognized request argument supplied: response_format"),
        2,
    ),
    (
        "any-format-groq",
        "Groq: streams",
        _has_format,
        refuse("`response_format` does not support streaming", param="response_format"),
        2,
    ),
    (
        "any-format-pydantic",
        "Mistral's older models",
        _has_format,
        send_json(
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "response_format"],
                        "msg": "Extra inputs are not permitted",
                        "input": {},
                    }
                ]
            },
            422,
        ),
        2,
    ),
    (
        "grammar-llama-server",
        "part 1.1",
        _has_keywords(_BOUNDS),
        send_json(
            {
                "error": {
                    "code": 400,
                    "message": "failed to parse grammar",
                    "type": "invalid_request_error",
                }
            },
            400,
        ),
        1,
    ),
    (
        "grammar-llama-server-500",
        "older llama.cpp",
        _has_keywords(_BOUNDS),
        send_json(
            {"error": {"code": 500, "message": "Failed to parse grammar", "type": "server_error"}},
            500,
        ),
        1,
    ),
    (
        "grammar-xgrammar",
        "vLLM",
        _has_keywords(_BOUNDS),
        send_json(
            {
                "object": "error",
                "message": "The provided JSON schema contains features not supported by xgrammar.",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            },
            400,
        ),
        1,
    ),
    (
        "pattern-openai",
        "liam-hq/liam#1162",
        _has_keywords(frozenset({"pattern", "minimum"})),
        refuse(
            "Invalid schema for response_format 'title': In context=('properties', 'certainty'), 'minimum' "
            "is not permitted.",
            param="response_format",
        ),
        1,
    ),
    (
        "maxItems-claude",
        "ghostlobster/memorize-everything#93",
        _has_keywords(frozenset({"maxItems", "minimum", "maximum"})),
        refuse(
            "output_config.format.schema: For 'array' type, property 'maxItems' is not supported"
        ),
        1,
    ),
    (
        "fields-cerebras",
        "Cerebras",
        _has_keywords(frozenset({"maxLength", "pattern", "maxItems"})),
        send_json(
            {
                "message": "Invalid JSON schema: Unsupported JSON schema fields: {'pattern'}",
                "type": "invalid_request_error",
                "param": "response_format",
                "code": "wrong_api_format",
            },
            400,
        ),
        1,
    ),
    (
        "states-gemini",
        "Gemini",
        _has_keywords(_BOUNDS),
        send_json(
            [
                {
                    "error": {
                        "code": 400,
                        "message": "The specified schema produces a constraint that has too many states for "
                        "serving. Typical causes of this error are schemas with lots of text (for example, "
                        "very long property or enum names), schemas with long array length limits.",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
            400,
        ),
        1,
    ),
    (
        "additionalProperties-gemini",
        "bigduu/Bodhi-AI#52",
        _has_keywords(frozenset({"additionalProperties"})),
        send_json(
            [
                {
                    "error": {
                        "code": 400,
                        "message": 'Invalid JSON payload received. Unknown name "additionalProperties" at '
                        "'generation_config.response_schema': Cannot find field.",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
            400,
        ),
        2,
    ),
    (
        "strict-is-unknown",
        "variant of W25",
        lambda body: "strict" in body.get("response_format", {}).get("json_schema", {}),
        send_json(
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "response_format", "json_schema", "strict"],
                        "msg": "Extra inputs are not permitted",
                        "input": True,
                    }
                ]
            },
            422,
        ),
        2,
    ),
)

ASKED = (
    *(
        Quirk(
            id=name,
            source=source,
            ask="structured",
            play=refuse_if(rule, refusal),
            end=_READ,
            steps=steps,
        )
        for name, source, rule, refusal, steps in _REFUSED
    ),
    Quirk(
        id="json_object-wants-the-word",
        source="DeepSeek, DashScope",
        ask="structured",
        play=_refuse_first(_asks("json_schema"), _NO_SCHEMA, _misses_word_json, refuse(_WORD)),
        end=_READ,
        steps=1,
    ),
    Quirk(
        id="json_object-is-refused-too",
        source="variant of W26",
        ask="structured",
        play=_refuse_first(
            _asks("json_schema"),
            _NO_SCHEMA,
            _asks("json_object"),
            refuse("'response_format.type' must be 'text'"),
        ),
        end=_READ,
        steps=2,
    ),
    Quirk(
        id="json_object-alone-is-refused",
        source="lmstudio-ai/lmstudio-bug-tracker#169",
        ask="structured",
        play=refuse_if(
            _asks("json_object"),
            send_json({"error": "'response_format.type' must be 'json_schema' or 'text'"}, 400),
        ),
        end=_READ,
    ),
    Quirk(
        id="json_schema-without-bounds-is-refused-too",
        source="variant of part 1.1: two refusals",
        ask="structured",
        play=refuse_if(
            _has_keywords(_BOUNDS),
            refuse("failed to parse grammar"),
            refuse_if(_asks("json_schema"), _NO_SCHEMA),
        ),
        end=_READ,
        steps=2,
    ),
    Quirk(
        id="changes-its-mind",
        source="a provider that refuses tomorrow what it takes today",
        ask="structured",
        play=play_in_turn(behave, refuse_if(_asks("json_schema"), _NO_SCHEMA)),
        end=_READ,
        steps=1,
        is_kept=False,
    ),
)

_SPACES = " \n" * 2_000
_HEAD, _TAIL = TITLE_JSON[:12], TITLE_JSON[12:]

_FORMS: Mapping[str, tuple[str, Sequence[str]]] = {
    "fenced": ("W26's kind: the format is not obeyed", ["```json\n", TITLE_JSON, "\n```"]),
    "fenced-without-language": ("variant", ["```\n", TITLE_JSON, "\n```\n"]),
    "fenced-and-unclosed": ("variant", ["```json\n", TITLE_JSON]),
    "words-before": ("variant", ["Here is the JSON you asked for:\n\n", TITLE_JSON]),
    "words-around": ("variant", ["Sure!\n", TITLE_JSON, "\nLet me know if you need more."]),
    "words-around-fenced": ("variant", ["Sure!\n```json\n", TITLE_JSON, "\n```\nDone."]),
    "braces-in-the-words-before": ("variant", ["Braces like { and } are fine: ", TITLE_JSON]),
    "after-a-thought": ("W28", ["<think>\nA {title}?\n</think>\n\n", TITLE_JSON]),
    "after-a-thought-with-json": (
        "W28",
        ['<think>\nPerhaps {"title": "x"}?\n</think>\n\n', TITLE_JSON],
    ),
    "after-a-thought-closed-alone": ("W28", ["A title?\n</think>\n\n", TITLE_JSON]),
    "after-a-thought-fenced": ("W28", ["<think>Hm.</think>\n```json\n", TITLE_JSON, "\n```"]),
    "inside-a-thought": ("scouzi1966/maclocal-api#44", [f"<think>\n{TITLE_JSON}\n</think>"]),
    "inside-a-thought-unclosed": ("scouzi1966/maclocal-api#44", [f"<think>\n{TITLE_JSON}"]),
    "after-a-channel": (
        "NVIDIA/TensorRT-LLM#9256",
        [
            (
                "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final <|constrain|>json"
                "<|message|>"
            ),
            TITLE_JSON,
        ],
    ),
    "with-the-end-of-a-turn": ("variant", [TITLE_JSON, "<|im_end|>"]),
    "twice": ("variant", [TITLE_JSON, "\n", TITLE_JSON]),
    "in-a-list": ("variant", ["[", TITLE_JSON, "]"]),
    "encoded-twice": ("variant", [json.dumps(TITLE_JSON)]),
    "spaces-around": ("variant", ["\n\n  ", TITLE_JSON, "\n \n"]),
    "byte-order-mark": ("variant", ["\ufeff", TITLE_JSON]),
    "more-fields": ("variant", [json.dumps({**TITLE, "comment": "done"})]),
    "numbers-as-text": ("variant", [json.dumps({**TITLE, "certainty": "1"})]),
    "null-for-a-default": ("W43's kind", [json.dumps({**TITLE, "certainty": None})]),
}

ANSWERED = (
    *(
        Quirk(id=name, source=source, ask="structured", play=say(*pieces), end=_READ)
        for name, (source, pieces) in _FORMS.items()
    ),
    Quirk(
        id="in-reasoning_content",
        source="lmstudio-ai/lmstudio-bug-tracker#1773",
        ask="structured",
        play=lambda _: stream(
            build_chunk({"content": ""}),
            build_chunk({"reasoning_content": _HEAD}),
            build_chunk({"reasoning_content": _TAIL}),
            build_chunk(None, "stop"),
        ),
        end=_READ,
    ),
    Quirk(
        id="after-a-thought-in-its-field",
        source="variant of lmstudio-ai/lmstudio-bug-tracker#1773",
        ask="structured",
        play=lambda _: stream(
            build_chunk({"reasoning_content": 'Perhaps {"title": "x"}?'}),
            *build_text_chunks(TITLE_JSON),
        ),
        end=_READ,
    ),
    Quirk(
        id="as-one-json-instead-of-a-stream",
        source="jjang-ai/vmlx#219",
        ask="structured",
        play=always(send_json(build_completion({"content": TITLE_JSON}))),
        end=_READ,
    ),
    Quirk(
        id="content-is-the-object",
        source="variant of W09",
        ask="structured",
        play=always(stream(build_chunk({"content": TITLE}), build_chunk(None, "stop"))),
        end=_READ,
    ),
    Quirk(
        id="in-parts",
        source="BerriAI/litellm#16272",
        ask="structured",
        play=always(
            stream(
                build_chunk({"content": [{"type": "thinking", "thinking": [{"text": "Hm."}]}]}),
                build_chunk({"content": [{"type": "text", "text": _HEAD}]}),
                build_chunk({"content": [{"type": "text", "text": _TAIL}]}),
                build_chunk(None, "stop"),
            )
        ),
        end=_READ,
    ),
    Quirk(
        id="as-a-call",
        source="Claude behind gateways: a tool in the place of a format",
        ask="structured",
        play=always(
            stream(
                build_chunk(
                    {
                        "tool_calls": [
                            {
                                "index": 0,
                                "id": "a",
                                "function": {"name": "json_tool_call", "arguments": TITLE_JSON},
                            }
                        ]
                    }
                ),
                build_chunk(None, "tool_calls"),
            )
        ),
        end=_READ,
    ),
    Quirk(
        id="no-end-but-done",
        source="W15",
        ask="structured",
        play=say(TITLE_JSON, finish_reason=None),
        end=_READ,
    ),
    Quirk(
        id="whole-in-spite-of-length",
        source="variant of W33",
        ask="structured",
        play=say(TITLE_JSON, finish_reason="length"),
        end=_READ,
    ),
    *(
        Quirk(
            id=f"repaired-{name}",
            source="DESIGN 12: one repair",
            ask="structured",
            play=play_in_turn(say(text), behave),
            end=_READ,
            extra=1,
            is_kept=False,
        )
        for name, text in {
            "words": "It is about a boiler.",
            "trailing-comma": TITLE_JSON.replace("]}", "],}"),
            "single-quotes": TITLE_JSON.replace('"', "'"),
            "another-type": json.dumps({"title": ["Boiler"]}),
            "missing-field": json.dumps({"tasks": []}),
            "beyond-a-bound": json.dumps({**TITLE, "certainty": 7}),
            "cut": _HEAD,
            "nothing": "",
            "the-schema": json.dumps(
                {"type": "object", "properties": {"title": {"type": "string"}}}
            ),
            "comments": TITLE_JSON.replace(",", ", // then"),
        }.items()
    ),
    Quirk(
        id="never-json",
        source="variant of W26",
        ask="structured",
        play=say("It is about a boiler."),
        end=_UNUSABLE,
        extra=2,
    ),
    Quirk(
        id="cut-by-length",
        source="W33",
        ask="structured",
        play=say(_HEAD, finish_reason="length"),
        end=_UNUSABLE,
        extra=1,
    ),
    Quirk(
        id="cut-without-an-end",
        source="variant of W33",
        ask="structured",
        play=always(stream(build_chunk({"content": _HEAD}), done=False)),
        end=End(failures=("malformed_answer", "unavailable")),
        extra=1,
    ),
    Quirk(
        id="refused-in-its-field",
        source="OpenAI: refusal",
        ask="structured",
        play=always(
            stream(build_chunk({"refusal": "I can't help with that."}), build_chunk(None, "stop"))
        ),
        end=End(failures=("filtered", "malformed_answer")),
    ),
    Quirk(
        id="a-failed-generation",
        source="Groq: json_validate_failed",
        ask="structured",
        play=play_in_turn(
            always(
                refuse(
                    "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more "
                    "details.",
                    code="json_validate_failed",
                    failed_generation="",
                )
            ),
            behave,
        ),
        end=_READ,
        extra=1,
        is_kept=False,
    ),
)


def _write_spaces(_: Received) -> Reply:
    """Write spaces for ever, as JSON mode does where the prompt does not ask for JSON."""

    def write() -> Iterator[bytes]:
        yield encode_event(build_chunk({"content": '{"title": '}))
        piece = encode_event(build_chunk({"content": _SPACES}))
        for _ in range(4_000):
            yield piece

    return Reply(headers={"content-type": "text/event-stream"}, pieces=write())


ENDLESS_ANSWERS = (
    Quirk(
        id="spaces",
        source="OpenAI's guide to JSON mode",
        ask="structured",
        play=_write_spaces,
        end=_UNUSABLE,
        extra=1,
    ),
)
