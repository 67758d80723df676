"""The browser in which an authorization began: only there may it end.

Who is talked into opening somebody else's link would otherwise connect their account to a stranger.
"""

from datetime import timedelta
from hmac import compare_digest

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response

COOKIE = "__session"
"""The one cookie that Firebase Hosting passes on."""


def remember(
    answer: Response, authorization_id: str, *, path: str, back_to: str, within: timedelta
) -> Response:
    """Let this browser come back to `back_to`, below `path`."""
    answer.headers["Cache-Control"] = "private, no-store"
    answer.set_cookie(
        COOKIE,
        authorization_id,
        max_age=int(within.total_seconds()),
        path=path,
        secure=back_to.startswith("https://"),
        httponly=True,
        samesite="lax",
    )
    return answer


def began_here(headers: Headers, authorization_id: str) -> bool:
    held = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
    return compare_digest(held.encode(), authorization_id.encode())


def begun_elsewhere(back_to: str) -> str:
    """Say where to start again to somebody who came back in another browser."""
    origin = back_to.partition("/v1/")[0]
    return f"This was begun elsewhere. Start again in this browser, at {origin}."
