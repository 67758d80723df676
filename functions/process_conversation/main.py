"""Deployed entry points: the trigger, what it leads to, dead letters, and the owner's library, by HTTP and MCP."""

from functools import cache

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from functions.process_conversation.processing.processing_routes import (
    DEAD_LETTERS,
    ERASE,
    INTEGRATIONS,
    LIBRARY,
    MCP,
    PROCESS,
    TRIGGER,
)
from functions.process_conversation.wiring import (
    dead_letter_deps,
    erase_deps,
    integration_deps,
    library_deps,
    process_deps,
    start,
    trigger_deps,
)
from shared.edge.http import build_application

start()


@cache
def _trigger() -> Starlette:
    return build_application("on_conversation_written", TRIGGER, trigger_deps())


@cache
def _process() -> Starlette:
    return build_application("process_conversation", PROCESS, process_deps())


@cache
def _dead_letters() -> Starlette:
    return build_application("record_dead_letter", DEAD_LETTERS, dead_letter_deps())


@cache
def _erase() -> Starlette:
    return build_application("erase_account", ERASE, erase_deps())


@cache
def _library() -> Starlette:
    return build_application(
        "library", LIBRARY, library_deps(), cors_origins=library_deps().cors_origins
    )


@cache
def _integrations() -> Starlette:
    return build_application("integrations", INTEGRATIONS, integration_deps())


@cache
def _mcp() -> Starlette:
    return build_application("mcp", MCP, library_deps())


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def on_conversation_written(request: Request) -> Starlette:
    """Tell what changed, if the content did."""
    return _trigger()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def process_conversation(request: Request) -> Starlette:
    """Bring what is derived from a conversation in line with it."""
    return _process()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def record_dead_letter(request: Request) -> Starlette:
    """Write down what was given up."""
    return _dead_letters()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def library(request: Request) -> Starlette:
    """Serve conversations, memories and action items."""
    return _library()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def integrations(request: Request) -> Starlette:
    """Serve the library to apps that its owner installed."""
    return _integrations()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def mcp(request: Request) -> Starlette:
    """Serve the library to MCP clients."""
    return _mcp()


@functions_framework.aio.http  # type: ignore[arg-type]  # its type omits ASGI applications
async def erase_account(request: Request) -> Starlette:
    """Erase a user who asked for it."""
    return _erase()
