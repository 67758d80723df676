"""Quirks of servers that do not know a field of ours, or take no tools."""

import json
from collections.abc import Callable

from tests.servers.quirks.refusal_forms import (
    Said,
    forbid_field,
    forbid_field_in_text,
    refuse_argument,
    refuse_in_google,
    refuse_in_old_vllm,
    refuse_in_openrouter,
)
from tests.servers.quirky_openai import (
    GREETING,
    Body,
    End,
    Quirk,
    refuse,
    refuse_if,
    send_json,
    send_text,
)

GREETED = End(text=GREETING, calls=())
_UNKNOWN_FORMS = (
    ("azure", "W25", refuse_argument),
    (
        "openai",
        "OpenAI",
        lambda name: refuse(f"Unknown parameter: '{name}'.", param=name, code="unknown_parameter"),
    ),
    ("mistral", "Mistral", forbid_field),
    ("old-vllm", "1Panel-dev/MaxKB#2912", forbid_field_in_text),
    (
        "fireworks",
        "FlowiseAI/Flowise#2866",
        lambda name: refuse(f"Extra inputs are not permitted, field: '{name}', value: True"),
    ),
    (
        "models-as-a-service",
        "microsoft/semantic-kernel#10510",
        lambda name: send_json(
            {
                "error": {
                    "code": 400,
                    "message": f"Validation error at #/{name}: Extra inputs are not permitted",
                }
            },
            400,
        ),
    ),
    (
        "nim",
        "NVIDIA/garak#748",
        lambda name: send_json(
            {
                "type": "urn:inference-service:problem-details:unprocessable-entity",
                "title": "Unprocessable Entity",
                "status": 422,
                "detail": f"body -> {name}\n  Extra inputs are not permitted (type=extra_forbidden)",
            },
            422,
        ),
    ),
    (
        "groq",
        "Groq",
        lambda name: refuse(f"property '{name}' is unsupported", param=name),
    ),
    (
        "cerebras",
        "egoist/chatwise-releases#1442",
        lambda name: send_json(
            {
                "message": f"body.{name}: property 'body.{name}' is unsupported",
                "type": "invalid_request_error",
                "param": "validation_error",
                "code": "wrong_api_format",
            },
            400,
        ),
    ),
    (
        "litellm",
        "LiteLLM",
        lambda name: refuse(
            f"litellm.UnsupportedParamsError: quirky does not support parameters: ['{name}'], for "
            "model=quirky-1. To drop these, set `litellm.drop_params=True` or for proxy:"
        ),
    ),
    (
        "serde",
        "servers in Rust",
        lambda name: send_text(
            f"unknown field `{name}`, expected one of `model`, `messages`", 422, kind="text/plain"
        ),
    ),
    (
        "gemini",
        "bigduu/Bodhi-AI#52",
        lambda name: refuse_in_google(
            400,
            f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.',
            "INVALID_ARGUMENT",
        ),
    ),
)
_BOUNDS = ("max_tokens", "max_completion_tokens")


def _holds(name: str) -> Callable[[Body], bool]:
    return lambda body: name in body


FIELDS_OF_OURS = (
    *(
        Quirk(
            id=f"{name}-{form}",
            source=source,
            ask="greeting",
            play=refuse_if(_holds(name), build(name)),
            end=GREETED,
            steps=1,
        )
        for form, source, build in _UNKNOWN_FORMS
        for name in ("stream_options", *_BOUNDS)
    ),
    Quirk(
        id="stream_options-structured",
        source="W25",
        ask="structured",
        play=refuse_if(lambda body: "stream_options" in body, refuse_argument("stream_options")),
        end=End(calls=()),
        steps=1,
    ),
    Quirk(
        id="any-bound",
        source="NVIDIA/garak#748",
        ask="greeting",
        play=refuse_if(
            lambda body: "max_tokens" in body,
            forbid_field("max_tokens"),
            refuse_if(
                lambda body: "max_completion_tokens" in body,
                forbid_field("max_completion_tokens"),
            ),
        ),
        end=GREETED,
        steps=2,
    ),
    Quirk(
        id="max_tokens-of-reasoning-models",
        source="musistudio/claude-code-router#644",
        ask="greeting",
        play=refuse_if(
            lambda body: "max_tokens" in body,
            refuse(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead.",
                param="max_tokens",
                code="unsupported_parameter",
            ),
        ),
        end=GREETED,
        steps=1,
    ),
    *(
        Quirk(
            id=f"bound-too-large-{name}",
            source=source,
            ask="greeting",
            play=refuse_if(
                lambda body: any(body.get(bound, 0) > 512 for bound in _BOUNDS), refusal
            ),
            end=GREETED,
            steps=2,
        )
        for name, source, refusal in (
            (
                "openai",
                "OpenAI",
                refuse(
                    "max_tokens is too large: 4000. This model supports at most 512 completion tokens, whereas "
                    "you provided 4000.",
                    param="max_tokens",
                    code="invalid_value",
                ),
            ),
            (
                "deepseek",
                "DeepSeek",
                refuse("Invalid max_tokens value, the valid range of max_tokens is [1, 512]"),
            ),
            (
                "claude",
                "Claude behind gateways",
                refuse(
                    "max_tokens: 4000 > 512, which is the maximum allowed number of output tokens for quirky-1"
                ),
            ),
            (
                "groq",
                "Groq",
                refuse(
                    "`max_tokens` must be less than or equal to `512`, the maximum value for `max_tokens` is "
                    "less than the `context_window` for this model",
                    param="max_tokens",
                ),
            ),
            (
                "bedrock",
                "Bedrock behind gateways",
                refuse(
                    "The maximum tokens you requested exceeds the model limit of 512. Try again with a maximum "
                    "tokens value that is lower than 512."
                ),
            ),
        )
    ),
    Quirk(
        id="reasoning_effort",
        source="OpenAI's models behind gateways",
        ask="greeting",
        model="gpt-6-luna",
        play=refuse_if(
            lambda body: "reasoning_effort" in body, refuse_argument("reasoning_effort")
        ),
        end=GREETED,
        steps=1,
    ),
    Quirk(
        id="reasoning_effort-none",
        source="OpenAI",
        ask="greeting",
        model="gpt-6-luna",
        play=refuse_if(
            lambda body: body.get("reasoning_effort") == "none",
            refuse(
                "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported "
                "values are: 'minimal', 'low', 'medium', and 'high'.",
                param="reasoning_effort",
                code="unsupported_value",
            ),
        ),
        end=GREETED,
        steps=1,
    ),
    Quirk(
        id="cache-marks",
        source="OpenAI's models behind gateways",
        ask="greeting",
        model="gpt-6-luna",
        marks_prefixes=True,
        play=refuse_if(
            lambda body: "prompt_cache" in json.dumps(body),
            refuse(
                "Unknown parameter: 'messages[0].content[0].prompt_cache_breakpoint'.",
                param="messages[0].content[0].prompt_cache_breakpoint",
                code="unknown_parameter",
            ),
        ),
        end=GREETED,
        steps=2,
    ),
)


def _holds_system(body: Body) -> bool:
    return "system" in [message["role"] for message in body["messages"]]


def _asks_for_schema(body: Body) -> bool:
    return str(body.get("response_format", {}).get("type")) == "json_schema"


_ALL = refuse_if(
    _holds("stream_options"),
    refuse_argument("stream_options"),
    refuse_if(
        _holds_system,
        refuse_in_old_vllm("System role not supported"),
        refuse_if(
            _asks_for_schema,
            refuse("This response_format type is unavailable now"),
            refuse_if(
                _holds("max_tokens"),
                forbid_field_in_text("max_tokens"),
                refuse_if(_holds("tools"), refuse("quirky-1 does not support tools")),
            ),
        ),
    ),
)
SEVERAL_AT_ONCE = (
    Quirk(
        id="structured",
        source="Gemma 2 on an old server: each refusal hides the next",
        ask="structured",
        play=_ALL,
        end=End(calls=()),
        steps=4,
    ),
    Quirk(
        id="greeting",
        source="Gemma 2 on an old server: each refusal hides the next",
        ask="greeting",
        play=_ALL,
        end=GREETED,
        steps=3,
    ),
    Quirk(
        id="question",
        source="Gemma 2 on an old server: each refusal hides the next",
        play=_ALL,
        end=End(calls=None),
        steps=5,
        is_kept=False,
    ),
)

_NO_TOOLS: Said = (
    (
        "ollama",
        "Ollama",
        refuse(
            "registry.ollama.ai/library/quirky-1:latest does not support tools", type="api_error"
        ),
    ),
    (
        "vllm",
        "vLLM",
        refuse_in_old_vllm(
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
        ),
    ),
    (
        "llama-server",
        "llama.cpp without --jinja",
        send_json(
            {
                "error": {
                    "code": 500,
                    "message": "tools param requires --jinja flag",
                    "type": "server_error",
                }
            },
            500,
        ),
    ),
    (
        "openrouter",
        "OpenRouter",
        refuse_in_openrouter(
            "No endpoints found that support tool use. To learn more about provider routing, visit: "
            "https://openrouter.ai/docs/provider-routing",
            404,
        ),
    ),
    ("groq", "Groq", refuse("`tool calling` is not supported with this model", param="tools")),
    (
        "openai",
        "OpenAI",
        refuse(
            "tools is not supported in this model. For a list of supported models, see docs.",
            param="tools",
        ),
    ),
    (
        "gemini",
        "Gemini",
        refuse_in_google(
            400, "Function calling is not enabled for models/gemma-3-27b-it", "INVALID_ARGUMENT"
        ),
    ),
    ("azure", "variant of W25", refuse_argument("tools")),
    ("pydantic", "partITech/php-mistral#76", forbid_field("tools")),
)
NO_TOOLS = tuple(
    Quirk(
        id=name,
        source=source,
        play=refuse_if(lambda body: "tools" in body, refusal),
        end=End(calls=None),
        steps=2,
        is_kept=False,
    )
    for name, source, refusal in _NO_TOOLS
)
