"""Installed apps: their tools as a fresh owner has them right after installing."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from functions.chat.tools.app_tools import build_app_tools
from functions.chat.tools.tool_offer import choose_tools
from functions.chat.tools.toolkit import Tool
from shared.data.apps.cached_apps import PinnedApp
from shared.domain.apps.app import App
from shared.domain.chats.consent import Consent, Grant
from shared.domain.ids import AppId, UserId
from shared.ports import ToolBox
from shared.security.tool_pin import build_grants, compute_pins

OWNER = UserId("owner")


def build_installed_tools(
    toolbox: ToolBox,
    apps: Sequence[App],
    question: str,
    *,
    always: Collection[tuple[AppId, str]] = (),
) -> list[Tool]:
    """Offer the tools of apps; the owner granted `always` to some, by app and name."""
    pinned = [PinnedApp(app=app, pins=compute_pins(app)) for app in apps]
    consent = Consent(grants={app.source.key: _build_grants(app, always) for app in apps})
    return choose_tools(build_app_tools(toolbox, OWNER, pinned, consent), question)


def _build_grants(app: App, always: Collection[tuple[AppId, str]]) -> dict[str, Grant]:
    grants = build_grants(app)
    chosen = {
        name: replace(grants[name], state="always") for place, name in always if place == app.id
    }
    return grants | chosen
