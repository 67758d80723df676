"""MCP messages (JSON-RPC 2.0), answered one by one or in batches, as protocol 2025-03-26 sends them."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from functions.library.programs.key_access import KeyOwner
from functions.library.programs.mcp_server.description import (
    INSTRUCTIONS,
    SERVER_NAME,
    SERVER_TITLE,
)
from functions.library.programs.mcp_server.library_tool import LibraryTool
from functions.library.programs.mcp_server.tool_calls import (
    INVALID_ARGUMENTS,
    ToolCallError,
    call_tool,
)
from functions.library.programs.mcp_server.tools import list_tools
from shared.domain.value import value
from shared.library.deps import LibraryDeps

PROTOCOL_VERSION = "2025-03-26"
KNOWN_VERSIONS = ("2024-11-05", PROTOCOL_VERSION, "2025-06-18")
MAX_BATCH = 20
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601

Message = dict[str, Any]


@value
class Exchange:
    """What a client sent, answered: no answers for notifications alone; `is_batch` if it was a list."""

    answers: Sequence[Message]
    is_batch: bool = False
    begins_session: bool = False


async def answer_messages(deps: LibraryDeps, owner: KeyOwner, body: bytes) -> Exchange:
    """Answer a message or a list of them; a failure is an answer, too.

    Each message of a list counts as a request of the key. Raises TooMany before any is answered.
    """
    try:
        sent = from_json(body, allow_inf_nan=False)
    except ValueError:
        return Exchange(answers=[_build_error(None, PARSE_ERROR, "The body is not valid JSON.")])
    messages = sent if isinstance(sent, list) else [sent]
    if not messages or len(messages) > MAX_BATCH:
        message = f"A batch has 1 to {MAX_BATCH} messages."
        return Exchange(answers=[_build_error(None, INVALID_REQUEST, message)])
    for _ in messages[1:]:
        deps.key_rate_limiter.check(owner.id, deps.clock.now())
    answers = [await _answer(deps, owner, message) for message in messages]
    return Exchange(
        answers=[answer for answer in answers if answer is not None],
        is_batch=isinstance(sent, list),
        begins_session=any(_get_method(message) == "initialize" for message in messages),
    )


def _get_method(message: Any) -> Any:
    return message.get("method") if isinstance(message, dict) else None


async def _answer(deps: LibraryDeps, owner: KeyOwner, message: Any) -> Message | None:
    """Return the answer to a message; None where it asks for none."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _build_error(None, INVALID_REQUEST, "This is no JSON-RPC 2.0 message.")
    if "method" not in message or "id" not in message:
        return None  # an answer of the client's, or a notification
    message_id, params = message["id"], message.get("params") or {}
    if not isinstance(message_id, str | int) or not isinstance(params, dict):
        return _build_error(None, INVALID_REQUEST, "id: a text or a number; params: an object.")
    try:
        result = await _run_method(deps, owner, message["method"], params)
    except ToolCallError as error:
        return _build_error(message_id, error.code, str(error))
    return {"jsonrpc": "2.0", "id": message_id, "result": result}


async def _run_method(
    deps: LibraryDeps, owner: KeyOwner, method: Any, params: Mapping[str, Any]
) -> Message:
    match method:
        case "initialize":
            return _introduce(params)
        case "ping":
            return {}
        case "tools/list":
            return {
                "tools": [_describe_tool(tool) for tool in list_tools(owner.offered_scope).values()]
            }
        case "tools/call":
            return await _call_tool(deps, owner, params)
    raise ToolCallError(UNKNOWN_METHOD, "Method not found")


def _introduce(params: Mapping[str, Any]) -> Message:
    asked_version = params.get("protocolVersion")
    return {
        "protocolVersion": asked_version if asked_version in KNOWN_VERSIONS else PROTOCOL_VERSION,
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": SERVER_NAME, "title": SERVER_TITLE, "version": "1"},
        "instructions": INSTRUCTIONS,
    }


async def _call_tool(deps: LibraryDeps, owner: KeyOwner, params: Mapping[str, Any]) -> Message:
    name, arguments = params.get("name"), params.get("arguments") or {}
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ToolCallError(INVALID_ARGUMENTS, "name: a text; arguments: an object.")
    text = await call_tool(deps, owner, name, arguments)
    return {"content": [{"type": "text", "text": text}], "isError": False}


def _describe_tool(tool: LibraryTool) -> Message:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": {
            "readOnlyHint": tool.is_read_only,
            "destructiveHint": tool.effect == "delete",
            "openWorldHint": False,
        },
    }


def _build_error(message_id: str | int | None, code: int, message: str) -> Message:
    return {"jsonrpc": "2.0", "id": message_id, "error": {"code": code, "message": message}}
