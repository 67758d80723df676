"""The public routes of the folder, in the order in which they are tried."""

from functions.tool_proxy.accounts import connection_routes as accounts
from functions.tool_proxy.mcp_servers import mcp_server_routes as mcp_servers
from functions.tool_proxy.registry import app_routes as apps

ENDPOINTS = (*mcp_servers.ENDPOINTS, *accounts.CONNECTIONS, *apps.ENDPOINTS)
