"""Deployed entry point: `chat`, everything the owner's chat asks for over HTTP."""

from functools import cache

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from functions.chat.endpoints import ENDPOINTS
from functions.chat.wiring import deps, preload
from shared.edge.http import application

preload()


@cache
def _application() -> Starlette:
    return application("chat", ENDPOINTS, deps(), cors_origins=deps().cors_origins)


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def chat(request: Request) -> Starlette:
    """Serve messages, sessions, profile and devices."""
    return _application()
