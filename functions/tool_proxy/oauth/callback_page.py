"""Pages of an authorization: before a user goes to a service, and after coming back from it.

Also called: redirect URI.
"""

from html import escape
from urllib.parse import urlencode

from starlette.responses import HTMLResponse

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<h1>{title}</h1>
<p>{text}</p>
{more}</html>
"""
_QUESTION = """<form method="post" action="?{query}"><button>Continue</button></form>
"""
_FORWARD = """<meta http-equiv="refresh" content="0; url={url}">
<p><a href="{url}">Continue</a></p>
"""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none';"
    " form-action 'self'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def render_connected(label: str) -> HTMLResponse:
    return _render_page("Connected", f"{label} is connected. You can close this window.")


def render_not_connected(reason: str) -> HTMLResponse:
    return _render_page("Not connected", f"{reason} You can close this window.")


def render_question(label: str, account: str, *, token: str, nonce: str) -> HTMLResponse:
    """Ask whether to connect an account; the answer is a form with both parameters."""
    text = (
        f"This connects your account at {label} to the Keepsake account of {account}."
        " Continue only if you have just started this yourself."
    )
    query = urlencode({"token": token, "nonce": nonce})
    return _render_page(f"Connect {label}?", text, more=_QUESTION.format(query=escape(query)))


def render_forward(label: str, url: str) -> HTMLResponse:
    """Lead to the page of a service where access is allowed.

    A redirect would be refused: browsers apply `form-action` to what follows a form.
    """
    more = _FORWARD.format(url=escape(url))
    return _render_page(f"Connect {label}", "Access is allowed on the next page.", more=more)


def _render_page(title: str, text: str, *, more: str = "") -> HTMLResponse:
    page = _PAGE.format(title=escape(title), text=escape(text), more=more)
    return HTMLResponse(page, headers=_HEADERS)
