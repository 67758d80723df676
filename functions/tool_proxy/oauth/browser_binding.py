"""Browser binding of an authorization, against CSRF: it ends only in the browser that began it.

Otherwise somebody who opens another user's link would connect their account to that user.

Also called: cross-site request forgery, cookie binding.
"""

from hmac import compare_digest

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response

from functions.tool_proxy.oauth.state import AUTHORIZATION_TTL, NotConnected

COOKIE_NAME = "__session"
"""The one cookie that Firebase Hosting passes on, where somebody puts it before us."""


def set_binding_cookie(
    response: Response, authorization_id: str, *, path: str, return_url: str
) -> Response:
    """Let this browser come back to `return_url`: set a cookie that is sent below `path` only."""
    response.headers["Cache-Control"] = "private, no-store"
    response.set_cookie(
        COOKIE_NAME,
        authorization_id,
        max_age=int(AUTHORIZATION_TTL.total_seconds()),
        path=path,
        secure=return_url.startswith("https://"),
        httponly=True,
        samesite="lax",
    )
    return response


def check_same_browser(headers: Headers, authorization_id: str, *, return_url: str) -> None:
    """Raise NotConnected, with where to start again, for somebody who came back in another browser."""
    cookie_value = cookie_parser(headers.get("cookie", "")).get(COOKIE_NAME, "")
    if not compare_digest(cookie_value.encode(), authorization_id.encode()):
        origin = return_url.partition("/v1/")[0]
        raise NotConnected(f"This was begun elsewhere. Start again in this browser, at {origin}.")
