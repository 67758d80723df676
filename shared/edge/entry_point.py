"""Deployed entry points: functions that functions-framework finds by name in a main.py."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from shared.edge.http import build_application
from shared.edge.requests import AuthDeps
from shared.edge.routes import Route

DepsT = TypeVar("DepsT", bound=AuthDeps)
EntryPoint = Callable[[Request], Any]


def serve(
    function: str,
    routes: Sequence[Route[DepsT]],
    build_deps: Callable[[], DepsT],
    *,
    load_all: Callable[[], Sequence[Route[DepsT]]] | None = None,
    cors_origins: Callable[[], Sequence[str]] = tuple,
) -> EntryPoint:
    """Make the entry point `function`, which answers by its routes.

    Its application is built with the first request, in the event loop that serves it. `load_all` imports
    the routes that few requests need, with the first request for one of them, and returns all there are.
    """

    @cache
    def build() -> Starlette:
        return build_application(
            function, routes, build_deps(), load_all=load_all, cors_origins=cors_origins()
        )

    async def entry_point(_: Request) -> Starlette:
        return build()

    entry_point.__name__ = function
    return functions_framework.aio.http(entry_point)  # type: ignore[arg-type]  # its type omits ASGI applications
