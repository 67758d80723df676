"""The public routes of the tool proxy, in the order in which they are tried."""

from functions.tool_proxy.accounts import connection_routes, integration_key_routes
from functions.tool_proxy.mcp_servers import mcp_server_routes
from functions.tool_proxy.registry import app_routes, directory_routes, review_routes
from functions.tool_proxy.webhooks import developer_routes

ROUTES = (
    *mcp_server_routes.ROUTES,
    *connection_routes.ROUTES,
    *integration_key_routes.ROUTES,
    *developer_routes.ROUTES,
    *directory_routes.ROUTES,
    *review_routes.ROUTES,
    *app_routes.ROUTES,
)
