"""Routes by which a chat is opened, asked and followed: every instance imports them at its start."""

from functions.chat.api import confirmation_routes, message_routes, run_routes, session_routes

FIRST_ROUTES = (
    *run_routes.ROUTES,
    *confirmation_routes.ROUTES,
    *message_routes.ROUTES,
    *session_routes.ROUTES,
)
