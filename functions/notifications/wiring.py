"""Wiring of the notifications function: its dependencies, built once per instance."""

from functools import cache

from functions.notifications.deps import NotificationsDeps
from shared import startup, wiring
from shared.data.cached_apps import CallingApps


def start() -> None:
    """Set up the log, and import what the first request needs."""
    startup.start(
        adapters=("documents",),
        stores=("apps", "hourly_limits", "inbox", "operations"),
    )


@cache
def deps() -> NotificationsDeps:
    return NotificationsDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        tasks=wiring.tasks(),
        push=wiring.push(),
        read_web_push_key=wiring.web_push_key,
        stores=wiring.stores(),
        calling_apps=CallingApps(wiring.stores().apps, wiring.clock()),
    )
