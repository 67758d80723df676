"""Entry point `tool_proxy`: tool calls for our other functions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from functions.tool_proxy.calls.call_routes import ROUTES
from functions.tool_proxy.wiring import call_deps, deps, start
from shared.edge.declare.routes import LateRoutes, Route
from shared.edge.serve.entry_point import serve

if TYPE_CHECKING:
    from functions.tool_proxy.deps import ToolProxyDeps

start("app_calls", "apps", "call_log")


def _load_service_routes() -> "Sequence[Route[ToolProxyDeps]]":
    from functions.tool_proxy.calls import service_routes

    return service_routes.ROUTES


tool_proxy = serve(
    "tool_proxy",
    ROUTES,
    call_deps,
    later=(LateRoutes(load=_load_service_routes, build_deps=deps),),
)
