"""The public routes of chat, in the order in which they are tried."""

from functions.chat.api import (
    change_routes,
    confirmation_routes,
    diagnostics_routes,
    grant_routes,
    message_routes,
    profile_routes,
    run_routes,
    session_routes,
    usage_routes,
)

ROUTES = (
    *run_routes.ROUTES,
    *confirmation_routes.ROUTES,
    *diagnostics_routes.ROUTES,
    *grant_routes.ROUTES,
    *message_routes.ROUTES,
    *change_routes.ROUTES,
    *session_routes.ROUTES,
    *profile_routes.ROUTES,
    *usage_routes.ROUTES,
)
