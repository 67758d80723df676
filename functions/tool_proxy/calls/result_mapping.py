"""Result mapping: an app's response, sanitized, as text for the model; nothing private in it."""

import json
import re
from http import HTTPStatus
from typing import Any

from functions.tool_proxy.calls.outgoing import CallFailed, OutgoingCall
from shared.domain.app import App
from shared.outbound.addresses import with_query
from shared.ports import EgressResponse
from shared.security.visible_text import strip_invisible

MAX_TEXT_CHARS = 20_000
_MAX_REASON_CHARS = 200
_MAX_SCANNED_CHARS = 2_000
"""A stranger's text is cut before any pattern runs over it: some take quadratic time."""
_SECRETS = re.compile(
    r"Bearer\s+\S+|\b(sk|pk|whsec|ghp|gho|xox[abp])[_-][\w+/=-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*",
    re.IGNORECASE,
)
_MARKUP_OR_TRACE = re.compile(r"<|Traceback \(most recent call last\)|at \S+\(")


def to_model_text(call: OutgoingCall, response: EgressResponse) -> str:
    """Return what the model reads. Raises CallFailed for a status that is not 2xx."""
    status = response.status
    error = f"HTTP {status}"
    if status in (401, 403):
        link = build_connect_url(call)
        raise CallFailed(
            _build_connect_text(call.app, response, link), error=error, connect_url=link
        )
    if not 200 <= status < 300:
        reason = _extract_reason(response) or _describe_status(status)
        message = f"Error calling {call.tool.name}: HTTP {status} - {reason}"
        raise CallFailed(message, error=error, is_down=status >= 500)
    return _to_success_text(response)[:MAX_TEXT_CHARS]


def _to_success_text(response: EgressResponse) -> str:
    content = _parse_body(response)
    if isinstance(content, str):
        return sanitize_text(content)
    if isinstance(content, dict):
        for name, prefix in (("result", ""), ("message", ""), ("error", "Error: ")):
            if content.get(name) is not None:
                return prefix + _to_text(content[name])
    return sanitize_text(to_compact_json(content))


def _build_connect_text(app: App, response: EgressResponse, link: str | None) -> str:
    """Relay the app's own words, and where its user can connect an account."""
    sentence = f"{app.name} needs its user to connect an account first."
    if reason := _extract_reason(response):
        sentence += f" It says: {reason}"
    if link:
        sentence += f" Connect here: {link}"
    return sentence


def build_connect_url(call: OutgoingCall) -> str | None:
    """Return the app's first page for connecting an account, told who comes, as its users expect."""
    integration = call.app.external_integration
    pages = [step.get("url", "") for step in integration.auth_steps]
    page = next(filter(_is_web_url, [*pages, integration.app_home_url or ""]), None)
    return None if page is None else with_query(page, {"uid": call.uid})


def _is_web_url(url: str) -> bool:
    return url.startswith(("https://", "http://"))


def _extract_reason(response: EgressResponse) -> str:
    """Return the app's own short reason."""
    content = _parse_body(response)
    if isinstance(content, dict):
        content = next((content[n] for n in ("error", "message", "detail") if content.get(n)), "")
    return sanitize_reason(_to_text(content))


def sanitize_reason(text: str) -> str:
    """Make a short reason of a stranger's words: one line, no markup, no trace, nothing like a secret."""
    line = next(iter(text.strip()[:_MAX_SCANNED_CHARS].splitlines()), "")
    if _MARKUP_OR_TRACE.match(line):
        return ""
    return _SECRETS.sub("[removed]", line)[:_MAX_REASON_CHARS]


def _describe_status(status: int) -> str:
    phrases = {phrases.value: phrases.phrase for phrases in HTTPStatus}
    return phrases.get(status, "no reason given")


def _parse_body(response: EgressResponse) -> Any:
    """Return the body as JSON, or as text where it is none; an empty body is empty text."""
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        return response.body.decode(errors="replace")


def _to_text(value: Any) -> str:
    return sanitize_text(value if isinstance(value, str) else to_compact_json(value))


def to_compact_json(value: Any) -> str:
    """Write JSON with no more characters than it needs."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sanitize_text(text: str) -> str:
    """Take out what nobody sees; replace halves of surrogate pairs, which UTF-8 cannot hold."""
    return strip_invisible(text.encode(errors="replace").decode())
