"""Tool calls of MCP clients: one of the tools is run, or the client's model is told why not."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from functions.library.programs.key_access import KeyOwner
from functions.library.programs.mcp_server.tools import TOOLS, list_tools
from shared import telemetry
from shared.domain.errors import CallerError, NotFound
from shared.edge.declare.validation_sentences import format_validation_error
from shared.library.deps import LibraryDeps

INVALID_ARGUMENTS = -32602
TOOL_FAILED = -32000
NOT_FOUND = -32001


class ToolCallError(Exception):
    """A call without a result. `code` is JSON-RPC's; the message is for the client's model."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


async def call_tool(
    deps: LibraryDeps, owner: KeyOwner, name: str, arguments: Mapping[str, Any]
) -> str:
    """Return the tool's result as JSON. Raises ToolCallError."""
    with telemetry.measure_tool_call(name if name in TOOLS else "unknown") as record:
        record.failed = True
        result = await _call(deps, owner, name, arguments)
        record.failed = False
        return result


async def _call(deps: LibraryDeps, owner: KeyOwner, name: str, arguments: Mapping[str, Any]) -> str:
    tools = list_tools(owner.scope)
    tool = tools.get(name)
    if tool is None and name in TOOLS:
        message = "This key may only read. Its owner can create one that may write."
        raise ToolCallError(TOOL_FAILED, message)
    if tool is None:
        message = f"There is no tool {name[:64]!r}. There are: {', '.join(tools)}."
        raise ToolCallError(INVALID_ARGUMENTS, message)
    try:
        return await tool.call(deps, owner.uid, arguments)
    except ValidationError as error:
        raise ToolCallError(INVALID_ARGUMENTS, format_validation_error(error)) from error
    except NotFound as error:
        raise ToolCallError(NOT_FOUND, str(error)) from error
    except CallerError as error:
        raise ToolCallError(TOOL_FAILED, str(error)) from error
    except Exception as error:
        telemetry.error("mcp_tool_broken", tool=name)
        raise ToolCallError(TOOL_FAILED, f"{name} does not work at the moment.") from error
