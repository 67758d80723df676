"""The routes of OAuth, by which users let programs in, in the order in which they are tried."""

from functions.library.programs.oauth import consent_routes, discovery_routes, token_routes

OAUTH_ROUTES = (*discovery_routes.ROUTES, *token_routes.ROUTES, *consent_routes.ROUTES)
