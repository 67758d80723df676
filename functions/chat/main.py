"""Deployed entry points: `chat`, and what follows it: `after_turn` of a turn, `close_run` of a lost one."""

from functools import cache

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from functions.chat.endpoints import AFTER_TURN, ENDPOINTS
from functions.chat.run_endpoints import CLOSING
from functions.chat.wiring import after_turn_deps, closing_deps, deps, start
from shared.edge.http import application
from shared.edge.shutdown import on_sigterm

start()


@cache
def _chat() -> Starlette:
    on_sigterm(deps().live.close)
    return application("chat", ENDPOINTS, deps(), cors_origins=deps().cors_origins)


@cache
def _after_turn() -> Starlette:
    return application("after_turn", AFTER_TURN, after_turn_deps())


@cache
def _close_run() -> Starlette:
    return application("close_run", CLOSING, closing_deps())


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def chat(request: Request) -> Starlette:
    """Serve messages, sessions, profile and devices."""
    return _chat()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def after_turn(request: Request) -> Starlette:
    """Title and summarise the chat of a turn that ended."""
    return _after_turn()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def close_run(request: Request) -> Starlette:
    """End one run whose process is gone."""
    return _close_run()
