"""The public routes of process_conversation, by the entry point that serves them."""

from functions.process_conversation.integrations import integration_routes
from functions.process_conversation.library import (
    account,
    action_items,
    conversations,
    memories,
    people,
)
from functions.process_conversation.mcp_server import keys, mcp_routes

LIBRARY_ROUTES = (
    *conversations.ROUTES,
    *memories.ROUTES,
    *action_items.ROUTES,
    *people.ROUTES,
    *account.ROUTES,
    *keys.ROUTES,
)
MCP_ROUTES = mcp_routes.ROUTES
INTEGRATION_ROUTES = integration_routes.ROUTES
ROUTES = (*LIBRARY_ROUTES, *MCP_ROUTES, *INTEGRATION_ROUTES)
