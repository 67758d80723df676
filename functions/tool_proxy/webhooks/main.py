"""Deployed entry points: what apps are told of conversations."""

from functools import cache

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from functions.tool_proxy.webhooks.endpoints import ANNOUNCE, DELIVER
from functions.tool_proxy.wiring import deps, start
from shared.edge.http import application

start()


@cache
def _on_conversation_processed() -> Starlette:
    return application("on_conversation_processed", ANNOUNCE, deps())


@cache
def _deliver_webhook() -> Starlette:
    return application("deliver_webhook", DELIVER, deps())


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def on_conversation_processed(request: Request) -> Starlette:
    """Queue what apps are told of a conversation."""
    return _on_conversation_processed()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def deliver_webhook(request: Request) -> Starlette:
    """Tell one app of a conversation."""
    return _deliver_webhook()
