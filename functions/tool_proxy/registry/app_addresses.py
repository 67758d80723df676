"""Addresses of an app: which of them are never called, and which are on this machine and need its developer's leave."""

from collections.abc import Mapping, Sequence
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
    origins = _list_local_origins(egress, app)
    if not (may_be_local or set(origins) <= set(app.local_origins)):
        raise LocalAddress(origins)
    known = _read_urls(stored, _ONLY_CALLED) if stored else {}
    refusals = [
        f"`{name}` is refused: {reason}"
        for name, url in _read_urls(app, _ONLY_CALLED).items()
        if url != known.get(name) and (reason := _find_refusal(egress, url, origins))
    ]
    if refusals:
        raise Invalid(" ".join(refusals))
    return replace(app, local_origins=origins)


def refuse_endpoints(egress: Egress, app: App, manifest: Manifest) -> Manifest:
    """Return a manifest without the tools whose endpoint would never be called, and why."""
    reasons = {
        tool.name: _find_refusal(egress, tool.endpoint, app.local_origins)
        for tool in manifest.tools
    }
    refused = (
        f"{name}: `endpoint` is refused: {why}"[:300] for name, why in reasons.items() if why
    )
    return replace(
        manifest,
        tools=tuple(tool for tool in manifest.tools if not reasons[tool.name]),
        refused_tools=(*manifest.refused_tools, *refused),
    )


def _list_local_origins(egress: Egress, app: App) -> tuple[str, ...]:
    """List the origins on this machine that may be called with their developer's leave alone."""
    urls = _read_urls(app, _CALLED).values()
    origins = {url: find_local_origin(url) for url in urls if _find_refusal(egress, url)}
    return tuple(
        dict.fromkeys(
            origin
            for url, origin in origins.items()
            if origin and not _find_refusal(egress, url, (origin,))
        )
    )


def _read_urls(app: App, names: Sequence[str]) -> Mapping[str, str]:
    urls = {name: getattr(app.external_integration, name) for name in names}
    return {name: url for name, url in urls.items() if url}


def _find_refusal(egress: Egress, url: str, local_origins: Sequence[str] = ()) -> str | None:
    try:
        egress.check_url(url, local_origins=local_origins)
    except NotAllowed as refusal:
        return str(refusal)
    return None
