"""Deployed entry points: functions that functions-framework finds by name in a main.py."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import functions_framework.aio
from starlette.applications import Starlette
from starlette.requests import Request

from shared.edge.declare.entry_points import EntryPoint, load_routes
from shared.edge.declare.routes import LateRoutes
from shared.edge.serve.http import build_application

BuildDeps = Callable[[type], Any]
"""Builds the dependencies of a class, once per process."""


def serve(
    entry_points: Sequence[EntryPoint],
    build_deps: BuildDeps,
    *,
    cors_origins: Callable[[], Sequence[str]] = tuple,
) -> Mapping[str, Callable[[Request], Any]]:
    """Make the entry points of a table, by name.

    The application of each is built with its first request, in the event loop that serves it.
    """
    return {
        entry_point.name: _make_entry_point(entry_point, build_deps, cors_origins)
        for entry_point in entry_points
    }


def _make_entry_point(
    entry_point: EntryPoint, build_deps: BuildDeps, cors_origins: Callable[[], Sequence[str]]
) -> Callable[[Request], Any]:
    @cache
    def build() -> Starlette:
        first, *later = entry_point.places
        kind = entry_point.first_deps if entry_point.first else None
        return build_application(
            entry_point.name,
            load_routes(first),
            build_deps(kind or entry_point.deps),
            later=[
                LateRoutes(
                    load=partial(load_routes, place),
                    build_deps=partial(build_deps, entry_point.deps),
                )
                for place in later
            ],
            cors_origins=cors_origins() if entry_point.serves_pages else (),
        )

    async def answer(_: Request) -> Starlette:
        return build()

    answer.__name__ = entry_point.name
    return functions_framework.aio.http(answer)  # type: ignore[arg-type]  # its type omits ASGI applications
