"""The ports and stores of the tool proxy, built once per instance."""

from functools import cache

from shared import wiring
from shared.data.apps import Apps, InstalledApps
from shared.data.call_log import CallLog
from shared.domain.value import value
from shared.ports import Clock, Egress, Identity, NewId, ServiceIdentity


@value
class ToolProxyDeps:
    """Everything that a call to an app, or an app's registration, asks of the world."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    new_id: NewId
    egress: Egress
    apps: Apps
    installed_apps: InstalledApps
    calls: CallLog
    cors_origins: tuple[str, ...] = ()


def start() -> None:
    """Set up the log, and import what the first request certainly needs."""
    wiring.start("documents")


@cache
def deps() -> ToolProxyDeps:
    documents = wiring.documents()
    return ToolProxyDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        egress=wiring.egress(),
        apps=Apps(documents),
        installed_apps=InstalledApps(documents),
        calls=CallLog(documents),
        cors_origins=wiring.settings().cors_origins,
    )
