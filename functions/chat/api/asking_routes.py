"""Routes by which a chat is asked, and its answer followed, stopped and confirmed."""

from functions.chat.api import confirmation_routes, run_routes

ASKING_ROUTES = (
    *run_routes.ROUTES,
    *confirmation_routes.ROUTES,
)
