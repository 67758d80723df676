"""Routes by which a chat is opened: every instance imports them at its start."""

from functions.chat.api import message_routes, session_routes

FIRST_ROUTES = (
    *message_routes.ROUTES,
    *session_routes.ROUTES,
)
