"""Deployed entry point: calls of tools, for our other functions."""

from functools import cache

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from functions.tool_proxy.calls.call_routes import ENDPOINTS
from functions.tool_proxy.wiring import deps, start
from shared.edge.http import build_application

start()


@cache
def _tool_proxy() -> Starlette:
    return build_application("tool_proxy", ENDPOINTS, deps())


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def tool_proxy(request: Request) -> Starlette:
    """Run a tool call for another of our functions."""
    return _tool_proxy()
