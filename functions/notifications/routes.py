"""The public routes of notifications, in the order in which they are tried."""

from functions.notifications import inbox_routes, post_routes

ROUTES = (*post_routes.ROUTES, *inbox_routes.ROUTES)
