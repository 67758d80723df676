"""The public routes of MCP, in the order in which they are tried."""

from functions.library.programs.mcp_server import hosted_routes, mcp_routes, rest_routes

MCP_ROUTES = (*mcp_routes.ROUTES, *hosted_routes.ROUTES, *rest_routes.ROUTES)
