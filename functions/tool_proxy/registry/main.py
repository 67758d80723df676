"""Deployed entry point: what developers and owners manage, apps and connected accounts."""

from functools import cache

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from functions.tool_proxy.routes import ENDPOINTS
from functions.tool_proxy.wiring import deps, start
from shared.edge.http import build_application

start()


@cache
def _apps() -> Starlette:
    return build_application("apps", ENDPOINTS, deps(), cors_origins=deps().cors_origins)


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def apps(request: Request) -> Starlette:
    """Serve registration, manifests, keys, installation and connections."""
    return _apps()
