"""Addresses of an app: which of them are never called, and which are on this machine and need its developer's leave."""

from dataclasses import replace

from functions.tool_proxy.ports import Manifest
from shared.domain.apps.app import App
from shared.domain.errors import Invalid, LocalAddress, NotAllowed
from shared.ports import Egress
from shared.security.egress_rules import find_local_origin

_CALLED = (
    "app_home_url",
    "chat_tools_manifest_url",
    "mcp_server_url",
    "webhook_url",
    "setup_completed_url",
)
_ONLY_CALLED = ("webhook_url", "setup_completed_url")
"""A home page is there for people, too; a manifest is read at once."""


def check_addresses(
    egress: Egress, app: App, stored: App | None = None, *, may_be_local: bool
) -> App:
    """Return the app with the servers on this machine that it may be called at.

    Raises LocalAddress for such servers where neither `may_be_local` nor an earlier leave allows them,
    and Invalid, which names each new address that would never be called.
    """
    origins = tuple(
        dict.fromkeys(filter(None, (_find_local(egress, url) for url in _list(app, _CALLED))))
    )
    if not (may_be_local or set(origins) <= set(app.local_origins)):
        raise LocalAddress(origins)
    app = replace(app, local_origins=origins)
    known = _list(stored, _ONLY_CALLED) if stored else []
    reasons = {
        name: reason
        for name in _ONLY_CALLED
        for url in _list(app, (name,))
        if url not in known and (reason := _find_refusal(egress, app, url))
    }
    if reasons:
        raise Invalid(
            " ".join(f"`{name}` is refused: {reason}" for name, reason in reasons.items())
        )
    return app


def refuse_endpoints(egress: Egress, app: App, manifest: Manifest) -> Manifest:
    """Return a manifest without the tools whose endpoint would never be called, and why."""
    reasons = {tool.name: _find_refusal(egress, app, tool.endpoint) for tool in manifest.tools}
    refused = [
        f"{name}: `endpoint` is refused: {reason}" for name, reason in reasons.items() if reason
    ]
    return replace(
        manifest,
        tools=tuple(tool for tool in manifest.tools if not reasons[tool.name]),
        refused_tools=(*manifest.refused_tools, *refused),
    )


def _list(app: App, names: tuple[str, ...]) -> list[str]:
    urls = (getattr(app.external_integration, name) for name in names)
    return [url for url in urls if url]


def _find_local(egress: Egress, url: str) -> str | None:
    """Return the origin of an address on this machine that may be called with its developer's leave alone."""
    origin = find_local_origin(url)
    if origin is None or not _is_refused(egress, url) or _is_refused(egress, url, origin):
        return None
    return origin


def _is_refused(egress: Egress, url: str, *local_origins: str) -> bool:
    try:
        egress.check_url(url, local_origins=local_origins)
    except NotAllowed:
        return True
    return False


def _find_refusal(egress: Egress, app: App, url: str) -> str | None:
    try:
        egress.check_url(url, local_origins=app.local_origins)
    except NotAllowed as refusal:
        return str(refusal)
    return None
