"""Deployed entry points: `chat`, and what follows it: `after_turn` of a turn, `close_run` of a lost one."""

from functools import cache

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from functions.chat.api.message_routes import AFTER_TURN_ENDPOINTS, ENDPOINTS
from functions.chat.api.run_routes import CLOSE_RUN_ENDPOINTS
from functions.chat.wiring import after_turn_deps, closing_deps, deps, start
from shared.edge.http import build_application
from shared.edge.shutdown import on_sigterm

start()


@cache
def _build_chat_app() -> Starlette:
    on_sigterm(deps().active_runs.close)
    return build_application("chat", ENDPOINTS, deps(), cors_origins=deps().cors_origins)


@cache
def _build_after_turn_app() -> Starlette:
    return build_application("after_turn", AFTER_TURN_ENDPOINTS, after_turn_deps())


@cache
def _build_close_run_app() -> Starlette:
    return build_application("close_run", CLOSE_RUN_ENDPOINTS, closing_deps())


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def chat(request: Request) -> Starlette:
    """Serve messages, sessions, profile and devices."""
    return _build_chat_app()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def after_turn(request: Request) -> Starlette:
    """Title and summarise the chat of a turn that ended."""
    return _build_after_turn_app()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def close_run(request: Request) -> Starlette:
    """End one run whose process is gone."""
    return _build_close_run_app()
