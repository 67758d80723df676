"""Deployed entry points: what apps are told of conversations."""

from functools import cache

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from functions.tool_proxy.webhooks.webhook_routes import DELIVERY_ENDPOINTS, QUEUE_ENDPOINTS
from functions.tool_proxy.wiring import deps, start
from shared.edge.http import build_application

start()


@cache
def _on_conversation_processed() -> Starlette:
    return build_application("on_conversation_processed", QUEUE_ENDPOINTS, deps())


@cache
def _deliver_webhook() -> Starlette:
    return build_application("deliver_webhook", DELIVERY_ENDPOINTS, deps())


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def on_conversation_processed(request: Request) -> Starlette:
    """Queue what apps are told of a conversation."""
    return _on_conversation_processed()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def deliver_webhook(request: Request) -> Starlette:
    """Tell one app of a conversation."""
    return _deliver_webhook()
