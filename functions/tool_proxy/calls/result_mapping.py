"""Result mapping: an app's response, sanitized, as text or data; nothing private in it."""

import json
from http import HTTPStatus
from typing import Any

from functions.tool_proxy.calls.failures import CallFailed
from functions.tool_proxy.ports import OutgoingCall
from shared.domain.apps.app import App
from shared.domain.apps.tool_data import ToolData, to_compact_json
from shared.outbound.addresses import with_query
from shared.outbound.untrusted_text import sanitize_content, sanitize_error, sanitize_reason
from shared.ports import EgressResponse


def to_tool_data(call: OutgoingCall, response: EgressResponse) -> ToolData:
    """Return what the app says. Raises CallFailed for a status other than 2xx."""
    status = response.status
    error = f"HTTP {status}"
    if status in (401, 403):
        url = build_connect_url(call)
        message = _build_connect_text(call.app, response, url)
        raise CallFailed(message, error=error, connect_url=url)
    if not 200 <= status < 300:
        reason = _extract_reason(response) or _describe_status(status)
        message = f"Error calling {call.tool.name}: HTTP {status} - {reason}"
        raise CallFailed(message, error=error, is_down=status >= 500)
    return ToolData(content=_find_content(_parse_body(response)))


def _find_content(content: Any) -> Any:
    if isinstance(content, dict):
        for name in ("result", "message"):
            if content.get(name) is not None:
                return sanitize_content(content[name])
        if content.get("error") is not None:
            return f"Error: {sanitize_error(_to_text(content['error'])) or 'no reason given'}"
    return sanitize_content(content)


def _build_connect_text(app: App, response: EgressResponse, url: str | None) -> str:
    """Relay the app's own reason, and the page on which its user can connect an account."""
    sentence = f"{app.name} needs its user to connect an account first."
    if reason := _extract_reason(response):
        sentence += f" It says: {reason}"
    if url:
        sentence += f" Connect here: {url}"
    return sentence


def build_connect_url(call: OutgoingCall) -> str | None:
    """Return the app's first page for connecting an account, with the user's id in its query."""
    integration = call.app.external_integration
    pages = [step.get("url", "") for step in integration.auth_steps]
    page = next(filter(_is_web_url, [*pages, integration.app_home_url or ""]), None)
    return None if page is None else with_query(page, {"uid": call.app_uid})


def _is_web_url(url: str) -> bool:
    return url.startswith(("https://", "http://"))


def _extract_reason(response: EgressResponse) -> str:
    """Return the app's own short reason, perhaps empty."""
    content = _parse_body(response)
    if isinstance(content, dict):
        content = next((content[n] for n in ("error", "message", "detail") if content.get(n)), "")
    return sanitize_reason(_to_text(content))


def _describe_status(status: int) -> str:
    phrases = {known.value: known.phrase for known in HTTPStatus}
    return phrases.get(status, "no reason given")


def _parse_body(response: EgressResponse) -> Any:
    """Return the body as JSON, or as text if it is not JSON."""
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        return response.body.decode(errors="replace")


def _to_text(content: Any) -> str:
    return content if isinstance(content, str) else to_compact_json(content)
