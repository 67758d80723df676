"""Deployed entry points: `notifications`, where apps post, and what tasks call to deliver."""

from functools import cache

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from functions.notifications.routes import DELIVER_ENDPOINTS, DIGEST_ENDPOINTS, ENDPOINTS
from functions.notifications.wiring import deps, start
from shared.edge.http import build_application

start()


@cache
def _notifications() -> Starlette:
    return build_application("notifications", ENDPOINTS, deps(), cors_origins=deps().cors_origins)


@cache
def _deliver_notification() -> Starlette:
    return build_application("deliver_notification", DELIVER_ENDPOINTS, deps())


@cache
def _deliver_digest() -> Starlette:
    return build_application("deliver_digest", DIGEST_ENDPOINTS, deps())


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def notifications(request: Request) -> Starlette:
    """Take notifications from apps, and show their owner the inbox."""
    return _notifications()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def deliver_notification(request: Request) -> Starlette:
    """Deliver one notification."""
    return _deliver_notification()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def deliver_digest(request: Request) -> Starlette:
    """Deliver what quiet hours held back."""
    return _deliver_digest()
