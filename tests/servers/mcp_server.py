"""MCP server from the official SDK, and the behaviour of a hostile one."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

FIND_TOOL = types.Tool(
    name="find",
    description="Find a note",
    input_schema={
        "type": "object",
        "properties": {"q": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["q"],
    },
    annotations=types.ToolAnnotations(read_only_hint=True),
)
DEFAULT_CONTENT: Sequence[types.ContentBlock] = (
    types.TextContent(type="text", text="Milk, eggs."),
)


@dataclass
class NotesMcp:
    """Lists `tools`, a page of `page` each, and answers each call with `result`, or as `answer` does."""

    tools: list[types.Tool] = field(default_factory=lambda: [FIND_TOOL])
    result: types.CallToolResult = field(
        default_factory=lambda: types.CallToolResult(content=list(DEFAULT_CONTENT))
    )
    page_size: int = 1_000
    answer: Callable[[object, Any], Awaitable[types.CallToolResult]] | None = None
    calls: list[tuple[str, dict[str, Any] | None]] = field(default_factory=list)
    requests: list[tuple[str, Headers]] = field(default_factory=list)

    async def _list(self, _: object, params: Any) -> types.ListToolsResult:
        start = int(params.cursor or 0) if params else 0
        end = start + self.page_size
        next_cursor = str(end) if end < len(self.tools) else None
        return types.ListToolsResult(tools=self.tools[start:end], next_cursor=next_cursor)

    async def _call(self, _: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        self.calls.append((params.name, params.arguments))
        return await self.answer(_, params) if self.answer else self.result

    def build_server(self) -> Server[Any]:
        return Server("notes", on_list_tools=self._list, on_call_tool=self._call)

    def build_app(self, *, json: bool = False, stateless: bool = False) -> ASGIApp:
        mcp_app = self.build_server().streamable_http_app(
            json_response=json, stateless_http=stateless
        )
        return RequestRecorder(mcp_app, self)


class RequestRecorder:
    """Middleware that records each request."""

    def __init__(self, app: ASGIApp, notes: NotesMcp) -> None:
        self._app = app
        self._notes = notes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._notes.requests.append((scope["method"], Headers(scope=scope)))
        await self._app(scope, receive, send)
