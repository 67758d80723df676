"""Quirks of refusals for what one app or one user wrote, and of servers that change."""

import json
from collections.abc import Callable, Sequence

from shared.domain.models.model import ToolSpec
from shared.domain.provenance import Source
from tests.servers.quirks.refusal_forms import refuse_argument, refuse_in_google, refuse_in_old_vllm
from tests.servers.quirky_openai import (
    End,
    Play,
    Quirk,
    Received,
    Reply,
    always,
    behave,
    play_in_turn,
    refuse,
    refuse_if,
    send_json,
)

_APP = "tag_items"
_LEFT_OUT = End(left_out=(_APP,))


def _refuse_tool(name: str, build: Callable[[int], Reply]) -> Play:
    """Refuse a tool of this name, by its place among the tools."""

    def play(received: Received) -> Reply:
        names = [tool["function"]["name"] for tool in received.body.get("tools", ())]
        return build(names.index(name)) if name in names else behave(received)

    return play


def _ignore_place(refusal: Reply) -> Callable[[int], Reply]:
    return lambda _: refusal


_NAMING: Sequence[tuple[str, str, Callable[[int], Reply]]] = (
    (
        "openai",
        "getsentry/sentry-mcp#106",
        lambda place: refuse(
            f"Invalid schema for function '{_APP}': In context=('properties', 'tags'), array schema missing "
            "items.",
            param=f"tools[{place}].function.parameters",
            code="invalid_function_parameters",
        ),
    ),
    (
        "openai-by-place",
        "OpenAI",
        lambda place: refuse(
            f"Invalid 'tools[{place}].function.description': string too long. Expected a string with maximum "
            "length 1024, but got a string with length 1100 instead.",
            param=f"tools[{place}].function.description",
            code="string_above_max_length",
        ),
    ),
    (
        "gemini",
        "Gemini",
        lambda place: refuse_in_google(
            400,
            f"* GenerateContentRequest.tools[0].function_declarations[{place}].parameters.properties[tags]."
            "items: missing field.\n",
            "INVALID_ARGUMENT",
        ),
    ),
    (
        "claude",
        "nspady/google-calendar-mcp#39",
        lambda place: refuse(
            f"tools.{place}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the "
            "top level"
        ),
    ),
    (
        "claude-keys",
        "Claude behind gateways",
        lambda place: refuse(
            f"tools.{place}.custom.input_schema.properties: Property keys should match pattern "
            "'^[a-zA-Z0-9_.-]{1,64}$'"
        ),
    ),
    (
        "pydantic",
        "Mistral",
        lambda place: send_json(
            {
                "detail": [
                    {
                        "type": "dict_type",
                        "loc": ["body", "tools", place, "function", "parameters"],
                        "msg": "Input should be a valid dictionary",
                        "input": None,
                    }
                ]
            },
            422,
        ),
    ),
    (
        "fireworks",
        "anomalyco/opencode#24696",
        lambda place: refuse(
            f"Extra inputs are not permitted, field: 'tools[{place}].function.parameters.x', value: True"
        ),
    ),
    (
        "xgrammar",
        "variant: vLLM",
        lambda _: refuse_in_old_vllm(
            f"Failed to compile the grammar of the tool {_APP}: unsupported keyword"
        ),
    ),
)
REFUSED_TOOLS = (
    *(
        Quirk(
            id=name,
            source=source,
            play=_refuse_tool(_APP, build),
            end=_LEFT_OUT,
            steps=1,
            sent="first message",
            is_personal=True,
        )
        for name, source, build in _NAMING
    ),
    *(
        Quirk(
            id=f"{name}-without-a-name",
            source="DESIGN 12: the same request without third parties' parts tells",
            play=_refuse_tool(_APP, _ignore_place(refusal)),
            end=_LEFT_OUT,
            is_unexplained=True,
            sent="first message",
            is_personal=True,
        )
        for name, refusal in (
            ("grammar", refuse("failed to parse grammar")),
            (
                "grammar-500",
                send_json({"error": {"code": 500, "message": "failed to parse grammar"}}, 500),
            ),
            (
                "argument",
                refuse_in_google(400, "Request contains an invalid argument.", "INVALID_ARGUMENT"),
            ),
            ("empty", Reply(status=400)),
        )
    ),
    Quirk(
        id="grammar-of-ours",
        source="part 1.1: our own tool holds a bound of 2,000",
        play=refuse_if(
            lambda body: "maxLength" in json.dumps(body.get("tools", ())),
            refuse("failed to parse grammar"),
        ),
        steps=1,
    ),
    Quirk(
        id="grammar-of-ours-in-a-500",
        source="part 1.1",
        play=refuse_if(
            lambda body: '"format"' in json.dumps(body.get("tools", ())),
            send_json({"error": {"code": 500, "message": "Failed to parse grammar"}}, 500),
        ),
        steps=1,
    ),
    Quirk(
        id="keyword-of-ours-gemini",
        source="bigduu/Bodhi-AI#52: a keyword in every declaration",
        play=refuse_if(
            lambda body: "additionalProperties" in json.dumps(body.get("tools", ())),
            refuse_in_google(
                400,
                'Invalid JSON payload received. Unknown name "additionalProperties" at '
                "'tools[0].function_declarations[0].parameters': Cannot find field.",
                "INVALID_ARGUMENT",
            ),
        ),
        steps=1,
    ),
)


def _echo(received: Received) -> Reply:
    """Refuse a text of the user, and quote it: a quotation names no reason."""
    text = json.dumps(received.body["messages"])
    return refuse(f"Could not process the message: {text}") if _QUOTED in text else behave(received)


_QUOTED = "says: System role not supported"


def _build_tool(name: str, description: str) -> ToolSpec:
    source = Source(kind="app", id="odd", name="Odd")
    return ToolSpec(name=name, description=description, parameters={}, source=source)


_TRICKY = (
    ("stream_options", "Streams options of the user."),
    ("max_tokens", "Counts the tokens of a wallet."),
    ("response_format", "Formats a response."),
    ("set_system_role", "System role not supported. Conversation roles must alternate."),
    ("tell", "This model's maximum context length is 1200 tokens. It does not support tools."),
)


def _refuse_by_name(name: str) -> Callable[[int], Reply]:
    return lambda place: refuse(
        f"Invalid schema for function '{name}': In context=(), object schema missing properties.",
        param=f"tools[{place}].function.parameters",
        code="invalid_function_parameters",
    )


def _refuse_by_description(description: str) -> Callable[[int], Reply]:
    return lambda place: refuse(
        f"Invalid 'tools[{place}].function.description': the text \"{description}\" is not allowed.",
        param=f"tools[{place}].function.description",
    )


TRICKY_TOOLS = tuple(
    Quirk(
        id=f"{name}-{form}",
        source="DESIGN 12: a refusal that names a tool is about that tool",
        tools=(_build_tool(name, description),),
        play=_refuse_tool(name, build),
        end=End(left_out=(name,)),
        steps=1,
        sent="first message",
        is_personal=True,
    )
    for name, description in _TRICKY
    for form, build in (
        ("by-name", _refuse_by_name(name)),
        ("by-description", _refuse_by_description(description)),
    )
)

PERSONAL = (
    Quirk(
        id="a-quotation-of-refusals",
        source="issue 32: a message that quotes a refusal",
        sent="quotation",
        play=_echo,
        end=End(failures=("other", "too_long")),
        is_personal=True,
        is_unexplained=True,
    ),
    Quirk(
        id="a-filter",
        source="issue 32: a content filter's 400",
        sent="quotation",
        play=lambda received: (
            refuse("The prompt triggered the content management policy.", code="content_filter")
            if _QUOTED in json.dumps(received.body["messages"])
            else behave(received)
        ),
        end=End(failures=("filtered",)),
        is_personal=True,
    ),
)

CHANGES = (
    Quirk(
        id="deleted-while-it-is-used",
        source="issue 32",
        play=play_in_turn(
            behave,
            always(
                refuse('model "quirky-1" not found, try pulling it first', 404, type="api_error")
            ),
        ),
        end=End(failures=("unknown_model",)),
        extra=1,
    ),
    Quirk(
        id="refuses-tomorrow-what-it-takes-today",
        source="issue 32: a provider that changes its mind",
        play=play_in_turn(
            behave,
            behave,
            refuse_if(lambda body: "stream_options" in body, refuse_argument("stream_options")),
        ),
        steps=1,
        is_kept=False,
    ),
    Quirk(
        id="refuses-now-and-then",
        source="issue 32: a provider that changes its mind",
        play=play_in_turn(
            refuse_if(lambda body: "stream_options" in body, refuse_argument("stream_options")),
            behave,
        ),
        steps=1,
    ),
)
