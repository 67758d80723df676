"""Start of a process: the log, the traces, what its first request needs, and its entry points.

Also called: bootstrap, warm-up.
"""

import asyncio
import gc
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from shared import spans, telemetry
from shared.data.stores import import_store
from shared.edge.declare.entry_points import EntryPoint, load_place, load_routes
from shared.edge.serve.entry_point import BuildDeps, serve
from shared.wiring import cors_origins, settings, world

_DOCUMENTS: Mapping[str, str] = {
    "embedded": "shared.adapters.embedded.sqlite_documents",
    "cloud": "shared.adapters.cloud.firestore_documents",
}


def start(
    entry_points: Sequence[EntryPoint], build_deps: BuildDeps
) -> Mapping[str, Callable[..., Any]]:
    """Set up the log, import what the first request needs, and return the entry points by name.

    The platform gives an instance more CPU while it starts, and names the entry point that it serves; without
    a name, all are. Where the loop that will serve runs already, documents are connected to while the rest is
    imported; else with the first request, because gunicorn loads a function in one process and serves it in another.
    """
    _set_up(entry_points)
    served = [entry_point for entry_point in entry_points if entry_point.application is None]
    return serve(served, build_deps, cors_origins=cors_origins)


class SocketApplication:
    """The application of an entry point of sockets, which uvicorn serves; set up as start() sets up others.

    It is built with its first connection, in the event loop that serves it.
    """

    def __init__(self, entry_point: EntryPoint, build_deps: BuildDeps) -> None:
        _set_up([entry_point])
        self._entry_point = entry_point
        self._build_deps = build_deps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._application(scope, receive, send)

    @cached_property
    def _application(self) -> ASGIApp:
        build = load_place(self._entry_point.application or "")
        application: ASGIApp = build(self._build_deps(self._entry_point.deps))
        return application


def _set_up(entry_points: Sequence[EntryPoint]) -> None:
    in_cloud = settings().world == "cloud"
    telemetry.configure(settings().project if in_cloud else None)
    spans.send_to(_send_spans(), share=settings().trace_share)
    if _is_loop_running():
        world().connect()
    import_module(_DOCUMENTS[settings().world])
    for entry_point in entry_points:
        if settings().entry_point in (None, entry_point.name):
            _preload(entry_point)
    gc.freeze()  # loaded code is never garbage
    gc.set_threshold(10_000, 20, 20)  # what 50,000 leave holds everybody up for five times as long


def _preload(entry_point: EntryPoint) -> None:
    for store in entry_point.stores:
        import_store(store)
    if entry_point.first:
        load_routes(entry_point.first)
    if entry_point.application:
        load_place(entry_point.application)


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@cache
def _send_spans() -> spans.SendSpans | None:
    endpoint = settings().otlp_endpoint
    if endpoint is None:
        return None
    from shared.adapters.otlp_spans import OtlpSpans

    return OtlpSpans(endpoint=endpoint, headers=settings().otlp_headers).send
