"""Deployed entry points: functions that functions-framework finds by name in a main.py."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from shared.edge.declare.routes import LateRoutes, Route
from shared.edge.serve.http import build_application
from shared.edge.serve.requests import AuthDeps

DepsT = TypeVar("DepsT", bound=AuthDeps)
EntryPoint = Callable[[Request], Any]


def serve(
    function: str,
    routes: Sequence[Route[DepsT]],
    build_deps: Callable[[], DepsT],
    *,
    later: Sequence[LateRoutes] = (),
    cors_origins: Callable[[], Sequence[str]] = tuple,
) -> EntryPoint:
    """Make the entry point `function`, which answers by its routes.

    Its application is built with the first request, in the event loop that serves it. Each of `later` is
    imported with the first request that no route before it serves.
    """
    return _make_entry_point(
        function,
        lambda: build_application(
            function, routes, build_deps(), later=later, cors_origins=cors_origins()
        ),
    )


def serve_late(
    function: str, load: Callable[[], Sequence[Route[DepsT]]], build_deps: Callable[[], DepsT]
) -> EntryPoint:
    """Make an entry point whose routes are imported with its first request: other functions share its file."""
    return _make_entry_point(function, lambda: build_application(function, load(), build_deps()))


def _make_entry_point(function: str, build: Callable[[], Starlette]) -> EntryPoint:
    build_once = cache(build)

    async def entry_point(_: Request) -> Starlette:
        return build_once()

    entry_point.__name__ = function
    return functions_framework.aio.http(entry_point)  # type: ignore[arg-type]  # its type omits ASGI applications
