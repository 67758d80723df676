"""MCP client: list and call the tools of a server with the official SDK, sent through Egress.

The SDK takes half a second to load, so this module is imported with the first exchange.

Also called: Model Context Protocol client, remote MCP servers.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from functions.tool_proxy.mcp_servers.egress_transport import EgressTransport
from functions.tool_proxy.mcp_servers.errors import ProtocolError
from shared.domain.errors import NotAllowed, TimedOut
from shared.ports import Egress

TIMEOUT_S = 30
MAX_PAGES = 10
_CLIENT_INFO = types.Implementation(name="keepsake", version="1.0")
T = TypeVar("T")


async def list_tools(egress: Egress, url: str, token: str | None) -> list[types.Tool]:
    """Return the tools on the server's first pages. Raises as `_exchange`."""

    async def list_pages(session: ClientSession) -> list[types.Tool]:
        tools: list[types.Tool] = []
        cursor = None
        for _ in range(MAX_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor)
            page = await session.send_request(
                types.ListToolsRequest(params=params), types.ListToolsResult
            )
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        return tools

    return await _exchange(egress, url, token, list_pages)


async def call_tool(
    egress: Egress, url: str, token: str | None, *, name: str, arguments: dict[str, Any]
) -> types.CallToolResult:
    """Call a tool. Raises as `_exchange`.

    The request is sent directly: the SDK's own method would list all tools again and run a
    stranger's patterns over the answer.
    """
    params = types.CallToolRequestParams(name=name, arguments=arguments)

    async def send_call(session: ClientSession) -> types.CallToolResult:
        return await session.send_request(
            types.CallToolRequest(params=params), types.CallToolResult
        )

    return await _exchange(egress, url, token, send_call)


async def _exchange(
    egress: Egress, url: str, token: str | None, work: Callable[[ClientSession], Awaitable[T]]
) -> T:
    """Open a session, run `work` in it and close it, all within TIMEOUT_S.

    Raises the errors of Egress, Unauthorized and ProtocolError.
    """
    transport = EgressTransport(egress, timeout_s=TIMEOUT_S)
    try:
        with anyio.fail_after(TIMEOUT_S):
            async with _open_session(transport, url, token) as session:
                return await work(session)
    except TimeoutError as timeout:
        raise TimedOut(f"No whole answer within {TIMEOUT_S} seconds.") from timeout
    except Exception as error:
        failure = transport.failure or _translate_error(_unwrap_first_error(error))
        if failure is None:
            raise
        raise failure from error


@asynccontextmanager
async def _open_session(
    transport: EgressTransport, url: str, token: str | None
) -> AsyncIterator[ClientSession]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(
            transport=transport, headers=headers, trust_env=False, timeout=None, max_redirects=3
        ) as http,
        Client(
            streamable_http_client(url, http_client=http), cache=None, client_info=_CLIENT_INFO
        ) as client,
    ):
        yield client.session


def _unwrap_first_error(error: BaseException) -> BaseException:
    """Return the first error inside an exception group: task groups wrap errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _translate_error(error: BaseException) -> ProtocolError | NotAllowed | None:
    """Return an error of ours for one of the server or its address; None for any other."""
    match error:
        case httpx2.InvalidURL():
            return NotAllowed("It is no address of a server.")
        case MCPError():
            return ProtocolError(error.message)
        case ValidationError() | RuntimeError():
            return ProtocolError("The server's answer does not follow the protocol.")
    return None
