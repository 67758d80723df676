"""Quirks of servers that refuse an order or a shape of messages."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.servers.quirky_openai import (
    ANSWER,
    ARGUMENTS,
    GREETING,
    Body,
    End,
    Quirk,
    Received,
    Reply,
    behave,
    call,
    list_roles,
    refuse,
    refuse_if,
    search_by,
    send_json,
)

Rule = Callable[[Body], bool]
_TWICE = End(calls=(ARGUMENTS, ARGUMENTS))


def _raise_in_template(text: str, status: int = 500) -> Reply:
    """Refuse as llama.cpp does where a chat template raises."""
    message = (
        "\n------------\nWhile executing CallExpression at line 85, column 32 in source:\n"
        f"...first %}}↵            {{{{- raise_exception('{text[:38]}...\n"
        f"                                           ^\nError: Jinja Exception: {text}"
    )
    return send_json(
        {"error": {"code": status, "message": message, "type": "server_error"}}, status
    )


def _raise_in_lm_studio(text: str) -> Reply:
    return send_json(
        {"error": f"Error rendering prompt with jinja template: {json.dumps(text)}."}, 400
    )


def _refuse_in_vllm(text: str) -> Reply:
    error = {"message": text, "type": "BadRequestError", "param": None, "code": 400}
    return send_json({"error": error}, 400)


def _refuse_in_old_vllm(text: str) -> Reply:
    body = {
        "object": "error",
        "message": text,
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    }
    return send_json(body, 400)


def _refuse_in_mistral(text: str, kind: str, code: str) -> Reply:
    return send_json(
        {"object": "error", "message": text, "type": kind, "param": None, "code": code}, 400
    )


def _refuse_in_openrouter(raw: object, provider: str) -> Reply:
    metadata = {"raw": json.dumps(raw), "provider_name": provider}
    return send_json(
        {"error": {"message": "Provider returned error", "code": 400, "metadata": metadata}}, 400
    )


def has_user_after_tool(body: Body) -> bool:
    roles = list_roles(body)
    return any(pair == ("tool", "user") for pair in pairwise(roles))


def has_late_system(body: Body) -> bool:
    return "system" in list_roles(body)[1:]


def has_system(body: Body) -> bool:
    return bool({"system", "developer"} & {*list_roles(body)})


def _drop_system(body: Body) -> Sequence[Mapping[str, Any]]:
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    return messages[1:] if messages[0]["role"] == "system" else messages


def breaks_alternation(body: Body) -> bool:
    """Tell whether user and assistant do not alternate, calls and their results apart (Mistral)."""
    turns = [
        message["role"]
        for message in _drop_system(body)
        if message["role"] != "tool" and not message.get("tool_calls")
    ]
    return any(role != ("user", "assistant")[n % 2] for n, role in enumerate(turns))


def breaks_strict_alternation(body: Body) -> bool:
    """Tell whether any message is out of turn, results of calls included (Llama 2, Mixtral, Gemma)."""
    return any(
        (message["role"] == "user") != (n % 2 == 0) for n, message in enumerate(_drop_system(body))
    )


def has_empty_content(body: Body) -> bool:
    return any(
        message.get("content") in ("", [])
        or (not message.get("content") and not message.get("tool_calls"))
        for message in body["messages"]
    )


def has_null_content(body: Body) -> bool:
    return any(message.get("content", ()) is None for message in body["messages"])


def misses_content(body: Body) -> bool:
    return any(message.get("content") is None for message in body["messages"])


def has_content_parts(body: Body) -> bool:
    return any(isinstance(message.get("content"), list) for message in body["messages"])


def has_picture(body: Body) -> bool:
    return "image_url" in json.dumps(body["messages"])


def begins_with_assistant(body: Body) -> bool:
    roles = [role for role in list_roles(body) if role != "system"]
    return bool(roles) and roles[0] != "user"


def _list_call_ids(body: Body) -> Sequence[str]:
    return [
        *(piece["id"] for message in body["messages"] for piece in message.get("tool_calls") or ()),
        *(message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"),
    ]


def has_other_ids_than_9(body: Body) -> bool:
    return any(
        len(id_) != 9 or not id_.isascii() or not id_.isalnum() for id_ in _list_call_ids(body)
    )


def has_long_ids(body: Body) -> bool:
    return any(len(id_) > 40 for id_ in _list_call_ids(body))


def has_odd_ids(body: Body) -> bool:
    return any(not id_.replace("_", "").replace("-", "").isalnum() for id_ in _list_call_ids(body))


def has_two_calls_at_once(body: Body) -> bool:
    return any(len(message.get("tool_calls") or ()) > 1 for message in body["messages"])


def has_words_beside_calls(body: Body) -> bool:
    return any(message.get("tool_calls") and message.get("content") for message in body["messages"])


def has_calls_but_no_tools(body: Body) -> bool:
    return "tools" not in body and (
        "tool" in list_roles(body) or any(message.get("tool_calls") for message in body["messages"])
    )


def has_tool_role(body: Body) -> bool:
    return "tool" in list_roles(body)


def has_nameless_result(body: Body) -> bool:
    return any(
        message["role"] == "tool" and not message.get("name") for message in body["messages"]
    )


def _search_twice(received: Received) -> Reply:
    two = search_by({"tool_calls": [call(index=0, id="call_a1"), call(index=1, id="call_a2")]})
    return two(received) if "tools" in received.body else behave(received)


def _speak_and_search(received: Received) -> Reply:
    return search_by({"content": "Let me look."}, {"tool_calls": [call(index=0, id="call_a1")]})(
        received
    )


_USER_AFTER_TOOL = "Unexpected role 'user' after role 'tool'"
_LATE_SYSTEM = "System message must be at the beginning."
_NO_SYSTEM = "System role not supported"
_ALTERNATE = (
    "After the optional system message, conversation roles must alternate user and assistant roles "
    "except for tool calls and results."
)
_ALTERNATE_STRICTLY = "Conversation roles must alternate user/assistant/user/assistant/..."
_NINE = "Tool call id was call_a1 but must be a-z, A-Z, 0-9, with a length of 9."
_SINGLE = "This model only supports single tool-calls at once!"
_NOT_A_STRING = (
    "Failed to deserialize the JSON body into the target type: messages[2]: invalid type: sequence, "
    "expected a string at line 1 column 639"
)
_TOO_LONG_ID = (
    "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40, "
    "but got a string with length 92 instead."
)

# id, source, rule, refusal
_REFUSED: Sequence[tuple[str, str, Rule, Reply]] = (
    (
        "user-after-tool-mistral",
        "W20, avante-corp/avante.nvim#2695",
        has_user_after_tool,
        _refuse_in_mistral(_USER_AFTER_TOOL, "invalid_request_message_order", "3230"),
    ),
    (
        "user-after-tool-vllm",
        "mistralai/mistral-vibe#578",
        has_user_after_tool,
        _refuse_in_vllm(_USER_AFTER_TOOL),
    ),
    (
        "user-after-tool-openrouter",
        "charmbracelet/crush#279",
        has_user_after_tool,
        _refuse_in_openrouter(
            {
                "object": "error",
                "message": _USER_AFTER_TOOL,
                "type": "invalid_request_message_order",
                "code": "3230",
            },
            "Mistral",
        ),
    ),
    (
        "late-system-llama-server",
        "ollama/ollama#18241, ggml-org/llama.cpp#27367: a 500",
        has_late_system,
        _raise_in_template(_LATE_SYSTEM),
    ),
    (
        "late-system-llama-server-400",
        "tailcallhq/forgecode#2586",
        has_late_system,
        _raise_in_template(_LATE_SYSTEM, 400),
    ),
    (
        "late-system-vllm",
        "infiniflow/ragflow#11021",
        has_late_system,
        _refuse_in_vllm(_LATE_SYSTEM),
    ),
    (
        "late-system-lm-studio",
        "lmstudio-ai/lmstudio-bug-tracker#2298",
        has_late_system,
        _raise_in_lm_studio(_LATE_SYSTEM),
    ),
    (
        "late-system-minimax",
        "variant: another wording",
        has_late_system,
        refuse("invalid params, messages: only one system message is allowed (2013)"),
    ),
    ("no-system-role-vllm", "W23: Gemma 2", has_system, _refuse_in_vllm(_NO_SYSTEM)),
    ("no-system-role-old-vllm", "W23: Gemma 2", has_system, _refuse_in_old_vllm(_NO_SYSTEM)),
    (
        "no-system-role-llama-server",
        "variant of ollama/ollama#18241",
        has_system,
        _raise_in_template(_NO_SYSTEM),
    ),
    (
        "no-system-role-openai",
        "OpenAI's o1-mini",
        has_system,
        refuse(
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            param="messages[0].role",
            code="unsupported_value",
        ),
    ),
    (
        "no-system-role-gemini",
        "Gemma at Gemini's endpoint",
        has_system,
        send_json(
            [
                {
                    "error": {
                        "code": 400,
                        "message": "Developer instruction is not enabled for models/gemma-3-27b-it",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
            400,
        ),
    ),
    (
        "alternate-lm-studio",
        "mcowger/generic-copilot#43",
        breaks_alternation,
        _raise_in_lm_studio(_ALTERNATE),
    ),
    (
        "alternate-llama-server",
        "charmbracelet/crush#279",
        breaks_alternation,
        _raise_in_template(_ALTERNATE),
    ),
    (
        "alternate-perplexity",
        "Perplexity",
        breaks_alternation,
        refuse(
            "After the (optional) system message(s), user or tool message(s) should alternate with "
            "assistant message(s).",
            type="invalid_message",
            code=400,
        ),
    ),
    (
        "single-calls-vllm",
        "unslothai/unsloth#7426",
        has_two_calls_at_once,
        _refuse_in_vllm(_SINGLE),
    ),
    (
        "single-calls-llama-server",
        "unslothai/unsloth#7426",
        has_two_calls_at_once,
        _raise_in_template(_SINGLE),
    ),
    (
        "single-calls-databricks",
        "natefleming/dao-ai#94",
        has_two_calls_at_once,
        send_json(
            {"error_code": "BAD_REQUEST", "message": "Multiple tool calls are not supported."}, 400
        ),
    ),
    (
        "ids-of-9-mistral",
        "nearai/ironclaw#1241",
        has_other_ids_than_9,
        _refuse_in_mistral(_NINE, "invalid_function_call", "3280"),
    ),
    (
        "ids-of-9-in-a-500",
        "jundot/omlx#1997",
        has_other_ids_than_9,
        send_json({"error": {"message": _NINE, "type": "server_error", "code": 500}}, 500),
    ),
    (
        "null-content-ollama",
        "SAIL-Research-Lab/cheetahclaws#72",
        has_null_content,
        refuse("invalid message content type: <nil>"),
    ),
    (
        "null-content-openai",
        "run-llama/llama_index#17555",
        has_null_content,
        refuse(
            "Invalid value for 'content': expected a string, got null.",
            param="messages.[6].content",
        ),
    ),
    (
        "null-content-pydantic",
        "TQZHR/grok2api#41",
        misses_content,
        send_json(
            {
                "detail": [
                    {
                        "type": "string_type",
                        "loc": ["body", "messages", 6, "content"],
                        "msg": "Input should be a valid string",
                        "input": None,
                    }
                ]
            },
            422,
        ),
    ),
    (
        "nameless-results-gemini",
        "Gemini's endpoint",
        has_nameless_result,
        send_json(
            [
                {
                    "error": {
                        "code": 400,
                        "message": "* GenerateContentRequest.contents[2].parts[0].function_response.name: "
                        "Name cannot be empty.\n",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
            400,
        ),
    ),
    (
        "no-tool-role-pydantic",
        "variant of W23: servers that know three roles",
        has_tool_role,
        send_json(
            {
                "detail": [
                    {
                        "type": "literal_error",
                        "loc": ["body", "messages", 6, "role"],
                        "msg": "Input should be 'system', 'user' or 'assistant'",
                        "input": "tool",
                    }
                ]
            },
            422,
        ),
    ),
    (
        "no-tool-role-template",
        "variant of W23: templates that know two roles",
        has_tool_role,
        _refuse_in_vllm("Only user and assistant roles are supported!"),
    ),
)

_PLAYS_TWO_CALLS = ("single-calls-vllm", "single-calls-llama-server", "single-calls-databricks")

ORDER = tuple(
    Quirk(
        id=name,
        source=source,
        play=refuse_if(rule, refusal, _search_twice if name in _PLAYS_TWO_CALLS else behave),
        end=_TWICE if name in _PLAYS_TWO_CALLS else End(),
        steps=2 if rule is breaks_alternation else 1,
    )
    for name, source, rule, refusal in _REFUSED
)

OTHER_MESSAGES = (
    Quirk(
        id="alternate-strictly",
        source="infiniflow/ragflow#11021: Mixtral on vLLM; calls and results are no turns of their own",
        play=refuse_if(breaks_strict_alternation, _refuse_in_old_vllm(_ALTERNATE_STRICTLY)),
        end=End(calls=None),
        extra=1,
        steps=3,
    ),
    Quirk(
        id="alternate-strictly-in-llama-server",
        source="withcatai/node-llama-cpp#263",
        play=refuse_if(breaks_strict_alternation, _raise_in_template(_ALTERNATE_STRICTLY)),
        end=End(calls=None),
        extra=1,
        steps=3,
    ),
    Quirk(
        id="system-and-user-in-a-row-refused-alike",
        source="MinLL/SkyrimNet-GamePlugin#309",
        sent="two in a row",
        play=refuse_if(breaks_alternation, _raise_in_lm_studio(_ALTERNATE)),
        steps=3,
    ),
    Quirk(
        id="empty-content-claude",
        source="Claude behind gateways",
        sent="empty result",
        play=refuse_if(
            has_empty_content, refuse("messages: text content blocks must be non-empty")
        ),
        steps=1,
    ),
    Quirk(
        id="empty-content-bedrock",
        source="Bedrock behind gateways",
        sent="empty result",
        play=refuse_if(
            has_empty_content,
            refuse(
                'litellm.BadRequestError: BedrockException - {"message":"The text field in the '
                "ContentBlock object at messages.3.content.0 is blank. Add text to the text field, and "
                'try again."}'
            ),
        ),
        steps=1,
    ),
    Quirk(
        id="empty-content-kimi",
        source="Kimi",
        sent="empty result",
        play=refuse_if(
            has_empty_content,
            refuse(
                "Invalid request: message at position 3 with role 'assistant' must not be empty"
            ),
        ),
        steps=1,
    ),
    Quirk(
        id="assistant-first-bedrock",
        source="Bedrock behind gateways",
        sent="greeted",
        play=refuse_if(
            begins_with_assistant,
            refuse(
                "A conversation must start with a user message. Try again with a conversation that "
                "starts with a user message."
            ),
        ),
        steps=1,
    ),
    Quirk(
        id="assistant-first-claude",
        source="Claude behind gateways",
        sent="greeted",
        play=refuse_if(
            begins_with_assistant, refuse('messages: first message must use the "user" role')
        ),
        steps=1,
    ),
    Quirk(
        id="long-ids-of-another-model",
        source="anomalyco/opencode#12653",
        sent="long call id",
        play=refuse_if(
            has_long_ids,
            refuse(
                _TOO_LONG_ID, param="messages[3].tool_calls[0].id", code="string_above_max_length"
            ),
        ),
        steps=1,
    ),
    Quirk(
        id="odd-ids-of-another-model",
        source="Claude behind gateways",
        sent="long call id",
        play=refuse_if(
            has_odd_ids,
            refuse(
                "messages.3.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            ),
        ),
        steps=1,
    ),
    Quirk(
        id="words-beside-calls",
        source="Mistral",
        play=refuse_if(
            has_words_beside_calls,
            _refuse_in_mistral(
                "Assistant message must have either content or tool_calls, but not both.",
                "invalid_request_error",
                "3240",
            ),
            _speak_and_search,
        ),
        end=End(text=f"Let me look.{ANSWER}"),
        steps=1,
    ),
    Quirk(
        id="calls-of-an-earlier-turn-without-tools-bedrock",
        source="Bedrock behind gateways",
        ask="greeting",
        play=refuse_if(
            has_calls_but_no_tools,
            refuse(
                "The toolConfig field must be defined when using toolUse and toolResult content blocks."
            ),
        ),
        end=End(text=GREETING, calls=()),
        steps=1,
    ),
    Quirk(
        id="calls-of-an-earlier-turn-without-tools-litellm",
        source="LiteLLM",
        ask="greeting",
        play=refuse_if(
            has_calls_but_no_tools,
            refuse(
                "litellm.UnsupportedParamsError: Anthropic expects the `tools=` param to be passed in "
                "when `tool_calls` are in the messages. Pass `tools=` OR set `litellm.modify_params = "
                "True` to add a dummy tool to the request."
            ),
        ),
        end=End(text=GREETING, calls=()),
        steps=1,
    ),
    Quirk(
        id="content-must-be-text",
        source="lastmile-ai/mcp-agent#25: DeepSeek",
        sent="earlier picture",
        play=refuse_if(has_content_parts, refuse(_NOT_A_STRING)),
        steps=1,
    ),
    Quirk(
        id="content-must-be-text-groq",
        source="Groq",
        sent="earlier picture",
        play=refuse_if(has_content_parts, refuse("messages[2].content must be a string")),
        steps=1,
    ),
    *(
        Quirk(
            id=f"no-pictures-{name}",
            source=name,
            sent=sent,
            play=refuse_if(has_picture, refusal),
            steps=1,
        )
        for name, sent, refusal in (
            (
                "deepseek",
                "picture",
                refuse(
                    "Failed to deserialize the JSON body into the target type: messages[2]: unknown "
                    "variant `image_url`, expected `text` at line 1 column 210"
                ),
            ),
            (
                "openai",
                "picture",
                refuse(
                    "Invalid content type. image_url is only supported by certain models.",
                    param="messages.[2].content.[1].type",
                ),
            ),
            (
                "vllm",
                "earlier picture",
                _refuse_in_vllm("At most 0 image(s) may be provided in one prompt."),
            ),
            (
                "llama-server",
                "picture",
                send_json(
                    {
                        "error": {
                            "code": 500,
                            "message": "image input is not supported - hint: if this is unexpected, you "
                            "may need to provide the mmproj",
                            "type": "server_error",
                        }
                    },
                    500,
                ),
            ),
            (
                "openrouter",
                "earlier picture",
                send_json(
                    {
                        "error": {
                            "message": "No endpoints found that support image input",
                            "code": 404,
                        }
                    },
                    404,
                ),
            ),
        )
    ),
)
