"""Callback page: what a user sees after coming back from a service."""

from html import escape

from starlette.responses import HTMLResponse

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<h1>{title}</h1>
<p>{text}</p>
</html>
"""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none';"
    " form-action 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def render_connected(label: str) -> HTMLResponse:
    return _render_page("Connected", f"{label} is connected. You can close this window.")


def render_not_connected(reason: str) -> HTMLResponse:
    return _render_page("Not connected", f"{reason} You can close this window.")


def _render_page(title: str, text: str) -> HTMLResponse:
    page = _PAGE.format(title=escape(title), text=escape(text))
    return HTMLResponse(page, headers=_HEADERS)
