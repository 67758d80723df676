"""The public routes of the folder, in the order in which they are tried."""

from functions.tool_proxy.accounts import endpoints as accounts
from functions.tool_proxy.apps import endpoints as apps
from functions.tool_proxy.mcp_servers import endpoints as mcp_servers

ENDPOINTS = (*mcp_servers.ENDPOINTS, *accounts.CONNECTIONS, *apps.ENDPOINTS)
