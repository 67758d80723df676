"""Entry point `tool_proxy`: tool calls for our other functions."""

from functions.tool_proxy.calls.call_routes import ROUTES
from functions.tool_proxy.wiring import deps, start
from shared.edge.entry_point import serve

start("app_calls", "apps", "call_log", "connections")

tool_proxy = serve("tool_proxy", ROUTES, deps)
