"""Deployed entry points: `chat`, all that the owner's chat asks for, and `after_turn`, what follows it."""

from functools import cache

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from functions.chat.endpoints import AFTER_TURN, ENDPOINTS
from functions.chat.wiring import after_turn_deps, deps, preload
from shared.edge.http import application

preload()


@cache
def _chat() -> Starlette:
    return application("chat", ENDPOINTS, deps(), cors_origins=deps().cors_origins)


@cache
def _after_turn() -> Starlette:
    return application("after_turn", AFTER_TURN, after_turn_deps())


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def chat(request: Request) -> Starlette:
    """Serve messages, sessions, profile and devices."""
    return _chat()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def after_turn(request: Request) -> Starlette:
    """Title and summarise the chat of a turn that ended."""
    return _after_turn()
