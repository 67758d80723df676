"""Server of Chat Completions that refuses what OpenAI documents as refused, in OpenAI's words and codes.

What it takes is answered by the scripted server. Each rule has its source; those of schemas stand in
strict_schemas.py. The first rule that applies is the one that speaks.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from tests.servers import run_server
from tests.servers.openai import Script, ScriptedOpenai
from tests.servers.strict_schemas import find_strict_problem, find_tool_problem

Body = Mapping[str, Any]

_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_REASONING = ("o1", "o3", "o4", "gpt-5", "gpt-6")
_TEXT_ONLY = ("gpt-3.5", "o1-mini", "o3-mini", "gpt-4-0613")
_NO_SYSTEM_OR_TOOLS = ("o1-mini",)
_NO_SCHEMAS = ("gpt-3.5", "gpt-4-", "o1-mini")
_SKIPS_REASONING = ("gpt-5.1", "gpt-5.2", "gpt-5.6-", "gpt-6-luna", "gpt-6-sol", "gpt-6.1-terra")
_MARKS_CACHE = ("gpt-5.6", "gpt-6")
_MOST_OUTPUT = {"gpt-3.5": 4_096, "gpt-4-": 8_192, "gpt-4o": 16_384, "gpt-4.1": 32_768}
_WINDOWS = {"gpt-3.5": 16_385, "gpt-4-0613": 8_192, "gpt-4o": 128_000}
_KNOWN = frozenset(
    {
        *(
            "model",
            "messages",
            "audio",
            "frequency_penalty",
            "function_call",
            "functions",
            "logit_bias",
        ),
        *(
            "logprobs",
            "max_completion_tokens",
            "max_tokens",
            "metadata",
            "modalities",
            "n",
            "store",
        ),
        *("parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key", "verbosity"),
        *(
            "reasoning_effort",
            "response_format",
            "safety_identifier",
            "seed",
            "service_tier",
            "stop",
        ),
        *(
            "stream",
            "stream_options",
            "temperature",
            "tool_choice",
            "tools",
            "top_logprobs",
            "top_p",
        ),
        *("user", "web_search_options", "prompt_cache_retention", "prompt_cache_options"),
    }
)
_KNOWN_IN_MESSAGES = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "function_call"}
)
_ONLY_FOR_ONE = ("temperature", "top_p", "presence_penalty", "frequency_penalty", "logprobs")


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What OpenAI says of a request."""

    message: str
    param: str | None = None
    code: str | None = None

    def to_response(self) -> JSONResponse:
        error = {**vars(self), "type": "invalid_request_error"}
        return JSONResponse({"error": error}, 400)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule of OpenAI, and where it is documented or was reported."""

    id: str
    source: str
    find: Callable[[Body], Iterator[Problem]]


def _is(body: Body, names: Sequence[str]) -> bool:
    return str(body.get("model", "")).startswith(tuple(names))


def _get_limit(body: Body, limits: Mapping[str, int], default: int) -> int:
    name = str(body.get("model", ""))
    return next((limit for prefix, limit in limits.items() if name.startswith(prefix)), default)


def _find_unknown_parameters(body: Body) -> Iterator[Problem]:
    for name in sorted(body.keys() - _KNOWN):
        yield Problem(message=f"Unknown parameter: '{name}'.", param=name, code="unknown_parameter")
    if "prompt_cache_options" in body and not _is(body, _MARKS_CACHE):
        yield Problem(
            message="Unsupported parameter: 'prompt_cache_options' is not supported with this model.",
            param="prompt_cache_options",
            code="unsupported_parameter",
        )


def _find_unknown_fields(body: Body) -> Iterator[Problem]:
    for number, message in enumerate(body.get("messages", ())):
        for name in sorted(message.keys() - _KNOWN_IN_MESSAGES):
            param = f"messages[{number}].{name}"
            yield Problem(
                message=f"Unknown parameter: '{param}'.", param=param, code="unknown_parameter"
            )


def _find_empty_lists(body: Body) -> Iterator[Problem]:
    lists = {name: body.get(name, (1,)) for name in ("messages", "tools")}
    for number, message in enumerate(body.get("messages", ())):
        lists[f"messages[{number}].tool_calls"] = message.get("tool_calls", (1,))
        if isinstance(message.get("content"), list):
            lists[f"messages[{number}].content"] = message["content"]
    for name, values in lists.items():
        if values is not None and len(values) == 0:
            yield Problem(
                message=f"Invalid '{name}': empty array. Expected an array with minimum length 1, but got an "
                "empty array instead.",
                param=name,
                code="empty_array",
            )


def _find_roles(body: Body) -> Iterator[Problem]:
    for number, message in enumerate(body["messages"]):
        role, param = message.get("role"), f"messages[{number}].role"
        if role not in _ROLES:
            known = ", ".join(f"'{name}'" for name in _ROLES[:-1])
            yield Problem(
                message=f"Invalid value: '{role}'. Supported values are: {known}, and 'developer'.",
                param=param,
                code="invalid_value",
            )
        if role == "system" and _is(body, _NO_SYSTEM_OR_TOOLS):
            yield Problem(
                message=f"Unsupported value: '{param}' does not support 'system' with this model.",
                param=param,
                code="unsupported_value",
            )


def _find_contents(body: Body) -> Iterator[Problem]:
    for number, message in enumerate(body["messages"]):
        content, param = message.get("content"), f"messages.[{number}].content"
        if content is None and not (message["role"] == "assistant" and message.get("tool_calls")):
            yield Problem(
                message="Invalid value for 'content': expected a string, got null.", param=param
            )
        parts = content if isinstance(content, list) else ()
        for place, part in enumerate(parts):
            if part.get("type") == "image_url" and _is(body, _TEXT_ONLY):
                yield Problem(
                    message="Invalid content type. image_url is only supported by certain models.",
                    param=f"{param}.[{place}].type",
                )
            if part.get("type") == "image_url" and message["role"] != "user":
                yield Problem(
                    message=f"Image URLs are only allowed for messages with role 'user', but this message with "
                    f"role '{message['role']}' contains an image URL.",
                    param=f"messages[{number}]",
                    code="invalid_value",
                )


def _find_call_shapes(body: Body) -> Iterator[Problem]:
    for number, message in enumerate(body["messages"]):
        ids = [
            (f"messages[{number}].tool_calls[{place}].id", call.get("id"))
            for place, call in enumerate(message.get("tool_calls") or ())
        ]
        if message["role"] == "tool":
            ids.append((f"messages[{number}].tool_call_id", message.get("tool_call_id")))
        for param, id_ in ids:
            if not isinstance(id_, str):
                yield Problem(
                    message=f"Missing required parameter: '{param}'.",
                    param=param,
                    code="missing_required_parameter",
                )
            elif len(id_) > 40:
                yield Problem(
                    message=f"Invalid '{param}': string too long. Expected a string with maximum length 40, but "
                    f"got a string with length {len(id_)} instead.",
                    param=param,
                    code="string_above_max_length",
                )
        for place, call in enumerate(message.get("tool_calls") or ()):
            yield from _find_call_problems(call, f"messages[{number}].tool_calls[{place}]")


def _find_call_problems(call: Body, param: str) -> Iterator[Problem]:
    if call.get("type") != "function":
        yield Problem(
            message=f"Missing required parameter: '{param}.type'.",
            param=f"{param}.type",
            code="missing_required_parameter",
        )
    function = call.get("function", {})
    if not isinstance(function.get("arguments"), str):
        yield Problem(
            message=f"Invalid type for '{param}.function.arguments': expected a string, but got an object "
            "instead.",
            param=f"{param}.function.arguments",
            code="invalid_type",
        )
    yield from _check_name(function.get("name"), f"{param}.function.name")


def _check_name(name: Any, param: str) -> Iterator[Problem]:
    if not name or not isinstance(name, str):
        yield Problem(
            message=f"Invalid '{param}': empty string. Expected a string with minimum length 1, but got an "
            "empty string instead.",
            param=param,
            code="empty_string",
        )
    elif not _NAME.fullmatch(name):
        yield Problem(
            message=f"Invalid '{param}': string does not match pattern. Expected a string that matches the "
            "pattern '^[a-zA-Z0-9_-]+$'.",
            param=param,
            code="invalid_value",
        )
    elif len(name) > 64:
        yield Problem(
            message=f"Invalid '{param}': string too long. Expected a string with maximum length 64, but got a "
            f"string with length {len(name)} instead.",
            param=param,
            code="string_above_max_length",
        )


def _find_call_order(body: Body) -> Iterator[Problem]:
    waiting: list[str] = []
    for number, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            id_ = message.get("tool_call_id")
            if id_ not in waiting:
                yield Problem(
                    message="Invalid parameter: messages with role 'tool' must be a response to a preceeding "
                    "message with 'tool_calls'.",
                    param=f"messages.[{number}].role",
                )
                return
            waiting.remove(id_)
        else:
            yield from _check_all_answered(waiting, number)
            waiting = [call.get("id") for call in message.get("tool_calls") or ()]
            if len(waiting) != len(set(waiting)):
                yield Problem(
                    message=f"Duplicate value for 'tool_call_id' of '{waiting[0]}' in message[{number}]."
                )
    yield from _check_all_answered(waiting, len(body["messages"]))


def _check_all_answered(waiting: Sequence[str], number: int) -> Iterator[Problem]:
    if waiting:
        yield Problem(
            message="An assistant message with 'tool_calls' must be followed by tool messages responding to "
            "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            f"{', '.join(waiting)}",
            param=f"messages.[{number}].role",
        )


def _find_bounds(body: Body) -> Iterator[Problem]:
    if "max_tokens" in body and "max_completion_tokens" in body:
        yield Problem(
            message="Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            param="max_tokens",
            code="invalid_parameter_combination",
        )
    if "max_tokens" in body and _is(body, _REASONING):
        yield Problem(
            message="Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            param="max_tokens",
            code="unsupported_parameter",
        )
    most = _get_limit(body, _MOST_OUTPUT, 128_000)
    for name in ("max_tokens", "max_completion_tokens"):
        bound = body.get(name, 1)
        if not isinstance(bound, int) or bound < 1:
            yield Problem(
                message=f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {bound} "
                "instead.",
                param=name,
                code="integer_below_min_value",
            )
        elif bound > most:
            yield Problem(
                message=f"{name} is too large: {bound}. This model supports at most {most} completion tokens, "
                f"whereas you provided {bound}.",
                param=name,
                code="invalid_value",
            )


def _find_reasoning(body: Body) -> Iterator[Problem]:
    effort = body.get("reasoning_effort")
    if not _is(body, _REASONING):
        if effort is not None:
            yield Problem(message="Unrecognized request argument supplied: reasoning_effort")
        return
    if effort == "none" and not _is(body, _SKIPS_REASONING):
        yield Problem(
            message="Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported "
            "values are: 'minimal', 'low', 'medium', and 'high'.",
            param="reasoning_effort",
            code="unsupported_value",
        )
    for name in _ONLY_FOR_ONE:
        if name in body and body[name] != 1 and effort != "none":
            yield Problem(
                message=f"Unsupported value: '{name}' does not support {body[name]} with this model. Only the "
                "default (1) value is supported.",
                param=name,
                code="unsupported_value",
            )


def _find_combinations(body: Body) -> Iterator[Problem]:
    if "stream_options" in body and not body.get("stream"):
        yield Problem(
            message="The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )
    if "tools" in body:
        if _is(body, _NO_SYSTEM_OR_TOOLS):
            yield Problem(
                message="Unsupported parameter: 'tools' is not supported with this model.",
                param="tools",
                code="unsupported_parameter",
            )
        return
    if body.get("tool_choice", "none") != "none":
        yield Problem(
            message="Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
            "specified.",
            param="tool_choice",
        )
    if "parallel_tool_calls" in body:
        yield Problem(
            message="Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when "
            "'tools' are specified.",
            param="parallel_tool_calls",
        )


def _find_tools(body: Body) -> Iterator[Problem]:
    tools = body.get("tools", ())
    if len(tools) > 128:
        yield Problem(
            message=f"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an "
            f"array with length {len(tools)} instead.",
            param="tools",
            code="array_above_max_length",
        )
    for number, tool in enumerate(tools):
        function = tool.get("function", {})
        yield from _check_name(function.get("name"), f"tools[{number}].function.name")
        description = function.get("description", "")
        if len(description) > 1_024:
            param = f"tools[{number}].function.description"
            yield Problem(
                message=f"Invalid '{param}': string too long. Expected a string with maximum length 1024, but "
                f"got a string with length {len(description)} instead.",
                param=param,
                code="string_above_max_length",
            )
        if "parameters" in function:
            find = find_strict_problem if function.get("strict") else find_tool_problem
            if problem := find(function["parameters"]):
                yield Problem(
                    message=f"Invalid schema for function '{function.get('name')}': {problem}",
                    param=f"tools[{number}].function.parameters",
                    code="invalid_function_parameters",
                )


def _find_response_format(body: Body) -> Iterator[Problem]:
    form = body.get("response_format")
    if not form:
        return
    kind = form.get("type")
    if kind == "json_object" and "json" not in json.dumps(body["messages"]).lower():
        yield Problem(
            message="'messages' must contain the word 'json' in some form, to use 'response_format' of type "
            "'json_object'.",
            param="messages",
        )
    if kind != "json_schema":
        return
    if _is(body, _NO_SCHEMAS):
        yield Problem(
            message="Invalid parameter: 'response_format' of type 'json_schema' is not supported with this "
            "model. Learn more about supported models at the Structured Outputs guide: "
            "https://platform.openai.com/docs/guides/structured-outputs",
            param="response_format",
        )
    described = form.get("json_schema", {})
    yield from _check_name(described.get("name"), "response_format.json_schema.name")
    if described.get("strict") and (problem := find_strict_problem(described.get("schema"))):
        yield Problem(
            message=f"Invalid schema for response_format '{described['name']}': {problem}",
            param="response_format",
        )


def _find_length(body: Body) -> Iterator[Problem]:
    window = _get_limit(body, _WINDOWS, 272_000)
    tokens = len(json.dumps([body["messages"], body.get("tools", ())])) // 4
    if tokens > window:
        yield Problem(
            message=f"This model's maximum context length is {window} tokens. However, your messages resulted in "
            f"{tokens} tokens. Please reduce the length of the messages.",
            param="messages",
            code="context_length_exceeded",
        )


_REFERENCE = "platform.openai.com/docs/api-reference/chat/create"
RULES: Sequence[Rule] = (
    Rule(id="unknown-parameter", source=_REFERENCE, find=_find_unknown_parameters),
    Rule(id="empty-list", source=_REFERENCE, find=_find_empty_lists),
    Rule(id="role", source=f"{_REFERENCE}; reasoning guide for o1-mini", find=_find_roles),
    Rule(id="unknown-field", source=f"{_REFERENCE}: messages", find=_find_unknown_fields),
    Rule(id="content", source="run-llama/llama_index#17555; vision guide", find=_find_contents),
    Rule(id="call", source="anomalyco/opencode#12653, camel-ai/camel#2215", find=_find_call_shapes),
    Rule(
        id="call-order", source="langgenius/dify#32222, agno-agi/agno#3105", find=_find_call_order
    ),
    Rule(
        id="bound",
        source="langchain-ai/langgraph#5943, musistudio/claude-code-router#644",
        find=_find_bounds,
    ),
    Rule(id="reasoning", source="platform.openai.com: reasoning guide", find=_find_reasoning),
    Rule(id="combination", source=_REFERENCE, find=_find_combinations),
    Rule(
        id="tool",
        source="platform.openai.com: function calling; schemas: strict_schemas.py",
        find=_find_tools,
    ),
    Rule(
        id="response-format",
        source="platform.openai.com: structured outputs, JSON mode; schemas: strict_schemas.py",
        find=_find_response_format,
    ),
    Rule(id="length", source="platform.openai.com: error codes", find=_find_length),
)


def find_problem(body: Body) -> tuple[Rule, Problem] | None:
    """Return the first rule that a request breaks."""
    found = ((rule, problem) for rule in RULES for problem in rule.find(body))
    return next(found, None)


class StrictOpenai:
    """The ASGI application; `refusals` are the problems of the requests that it refused."""

    def __init__(self, default: Script | None = None) -> None:
        self.url = ""
        self.bodies: list[Body] = []
        self.refusals: list[Problem] = []
        self.scripted = ScriptedOpenai(default)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].endswith("/chat/completions"):
            await self.scripted(scope, receive, send)
            return
        content = await Request(scope, receive).body()
        body = json.loads(content)
        self.bodies.append(body)
        if found := find_problem(body):
            self.refusals.append(found[1])
            await found[1].to_response()(scope, receive, send)
            return
        await self.scripted(scope, _receive_again(content, receive), send)


def _receive_again(content: bytes, receive: Receive) -> Receive:
    """Give out a body that was read already, and then what else comes."""
    messages: Iterator[Message] = iter([{"type": "http.request", "body": content}])

    async def receive_again() -> Message:
        return next(messages, None) or await receive()

    return receive_again


@contextmanager
def strict_openai(default: Script | None = None) -> Iterator[StrictOpenai]:
    """Serve on a free port; `server.url` is the base url for a client."""
    server = StrictOpenai(default)
    with run_server(server) as origin:
        server.url = f"{origin}/v1"
        yield server
