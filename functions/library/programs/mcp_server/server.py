"""MCP server over the library, by the official SDK.

Loading the SDK takes half a second, so this module is imported with the first MCP message.

Also called: Model Context Protocol.
"""

import logging
from functools import cache

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from functions.library.programs.key_access import KeyOwner
from functions.library.programs.mcp_server.description import (
    INSTRUCTIONS,
    MAX_MESSAGE_BYTES,
    SERVER_NAME,
    SERVER_TITLE,
)
from functions.library.programs.mcp_server.tool_calls import ToolCallError, call_tool
from functions.library.programs.mcp_server.tools import TOOLS, list_tools
from shared.library.deps import LibraryDeps

logging.getLogger("mcp").setLevel(logging.CRITICAL)  # its warnings quote what clients send


class McpResponse(Response):
    """The answer to one message, by a server of one user.

    There are no sessions: the platform passes no lifespan on, so nothing outlives a request.
    """

    def __init__(self, deps: LibraryDeps, owner: KeyOwner, body: bytes) -> None:
        super().__init__()
        self._server = _build_server(deps, owner)
        self._message: Message | None = {"type": "http.request", "body": body}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = StreamableHTTPSessionManager(
            self._server,
            stateless=True,
            json_response=True,
            max_request_body_size=MAX_MESSAGE_BYTES,
        )

        async def receive_again() -> Message:
            """Return the body, which is read already, and then what else comes."""
            message, self._message = self._message, None
            return message or await receive()

        async with manager.run():
            await manager.handle_request(scope, receive_again, send)


def _build_server(deps: LibraryDeps, owner: KeyOwner) -> Server[object]:
    async def handle_list(*_: object) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[_build_tool(name) for name in list_tools(owner.offered_scope)]
        )

    async def handle_call(_: object, request: types.CallToolRequestParams) -> types.CallToolResult:
        """Run a tool; a failure is part of the result, so that the client's model can adapt."""
        try:
            text = await call_tool(deps, owner, request.name, request.arguments or {})
        except ToolCallError as error:
            return _build_result(str(error), is_error=True)
        return _build_result(text)

    return Server(
        SERVER_NAME,
        title=SERVER_TITLE,
        instructions=INSTRUCTIONS,
        on_list_tools=handle_list,
        on_call_tool=handle_call,
    )


@cache
def _build_tool(name: str) -> types.Tool:
    tool = TOOLS[name]
    return types.Tool(
        name=name,
        description=tool.description,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.is_read_only,
            destructive_hint=tool.effect == "delete",
            open_world_hint=False,
        ),
    )


def _build_result(text: str, *, is_error: bool = False) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, is_error=is_error)
