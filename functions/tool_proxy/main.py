"""Deployed entry points: calls to apps, what apps are told, and what developers and owners manage."""

from functools import cache

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from functions.tool_proxy.endpoints import ENDPOINTS, TOOL_PROXY_ENDPOINTS
from functions.tool_proxy.webhooks.endpoints import ANNOUNCE, DELIVER
from functions.tool_proxy.wiring import deps, start
from shared.edge.http import application

start()


@cache
def _tool_proxy() -> Starlette:
    return application("tool_proxy", TOOL_PROXY_ENDPOINTS, deps())


@cache
def _apps() -> Starlette:
    return application("apps", ENDPOINTS, deps(), cors_origins=deps().cors_origins)


@cache
def _on_conversation_processed() -> Starlette:
    return application("on_conversation_processed", ANNOUNCE, deps())


@cache
def _deliver_webhook() -> Starlette:
    return application("deliver_webhook", DELIVER, deps())


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def tool_proxy(request: Request) -> Starlette:
    """Run a tool call for another of our functions."""
    return _tool_proxy()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def apps(request: Request) -> Starlette:
    """Serve registration, manifests, keys and installation."""
    return _apps()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def on_conversation_processed(request: Request) -> Starlette:
    """Queue what apps are told of a conversation."""
    return _on_conversation_processed()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def deliver_webhook(request: Request) -> Starlette:
    """Tell one app of a conversation."""
    return _deliver_webhook()
