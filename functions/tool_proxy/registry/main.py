"""Entry point `apps`: registration, manifests, keys, installation and connected accounts."""

from functions.tool_proxy.routes import ROUTES
from functions.tool_proxy.wiring import deps, start
from shared.edge.serve.entry_point import serve
from shared.wiring import cors_origins

start("apps", "call_log", "connections")

apps = serve("apps", ROUTES, deps, cors_origins=cors_origins)
