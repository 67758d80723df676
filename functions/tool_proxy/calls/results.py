"""An app's answer as text for the model; a failure is said without anything private in it."""

import json
import re
from http import HTTPStatus
from typing import Any

from functions.tool_proxy.addresses import with_query
from functions.tool_proxy.calls.outgoing import CallFailed, Outgoing
from shared.domain.app import App
from shared.domain.text import visible
from shared.ports import EgressResponse

MAX_TEXT = 20_000
_MAX_REASON = 200
_MOST_READ = 2_000
"""A stranger's text is cut before any pattern runs over it: some take quadratic time."""
_SECRETS = re.compile(
    r"Bearer\s+\S+|\b(sk|pk|whsec|ghp|gho|xox[abp])[_-][\w+/=-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*",
    re.IGNORECASE,
)
_MARKUP_OR_TRACE = re.compile(r"<|Traceback \(most recent call last\)|at \S+\(")


def text_of(call: Outgoing, response: EgressResponse) -> str:
    """Return what the model reads. Raises CallFailed for a status that is not 2xx."""
    status = response.status
    error = f"HTTP {status}"
    if status in (401, 403):
        link = connect_url(call)
        raise CallFailed(_connect_first(call.app, response, link), error=error, connect_url=link)
    if not 200 <= status < 300:
        reason = _reason(response) or _phrase(status)
        message = f"Error calling {call.tool.name}: HTTP {status} - {reason}"
        raise CallFailed(message, error=error, is_down=status >= 500)
    return _success(response)[:MAX_TEXT]


def _success(response: EgressResponse) -> str:
    content = _content(response)
    if isinstance(content, str):
        return _whole(content)
    if isinstance(content, dict):
        for name, prefix in (("result", ""), ("message", ""), ("error", "Error: ")):
            if content.get(name) is not None:
                return prefix + _as_text(content[name])
    return _whole(compact(content))


def _connect_first(app: App, response: EgressResponse, link: str | None) -> str:
    """Relay the app's own words, and where its user can connect an account."""
    sentence = f"{app.name} needs its user to connect an account first."
    if reason := _reason(response):
        sentence += f" It says: {reason}"
    if link:
        sentence += f" Connect here: {link}"
    return sentence


def connect_url(call: Outgoing) -> str | None:
    """Return the app's first page for connecting an account, told who comes, as its users expect."""
    integration = call.app.external_integration
    pages = [step.get("url", "") for step in integration.auth_steps]
    page = next(filter(_is_web, [*pages, integration.app_home_url or ""]), None)
    return None if page is None else with_query(page, {"uid": call.uid})


def _is_web(url: str) -> bool:
    return url.startswith(("https://", "http://"))


def _reason(response: EgressResponse) -> str:
    """Return the app's own short reason."""
    content = _content(response)
    if isinstance(content, dict):
        content = next((content[n] for n in ("error", "message", "detail") if content.get(n)), "")
    return reason_of(_as_text(content))


def reason_of(text: str) -> str:
    """Make a short reason of a stranger's words: one line, no markup, no trace, nothing like a secret."""
    line = next(iter(text.strip()[:_MOST_READ].splitlines()), "")
    if _MARKUP_OR_TRACE.match(line):
        return ""
    return _SECRETS.sub("[removed]", line)[:_MAX_REASON]


def _phrase(status: int) -> str:
    known = {known.value: known.phrase for known in HTTPStatus}
    return known.get(status, "no reason given")


def _content(response: EgressResponse) -> Any:
    """Return the body as JSON, or as text where it is none; an empty body is empty text."""
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        return response.body.decode(errors="replace")


def _as_text(value: Any) -> str:
    return _whole(value if isinstance(value, str) else compact(value))


def compact(value: Any) -> str:
    """Write JSON with no more characters than it needs."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _whole(text: str) -> str:
    """Take out what nobody sees; replace halves of surrogate pairs, which UTF-8 cannot hold."""
    return visible(text.encode(errors="replace").decode())
