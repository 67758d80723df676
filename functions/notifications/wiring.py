"""The ports and stores of the notifications function, built once per instance."""

from functools import cache

from shared import wiring
from shared.data.apps import Apps, InstalledApps
from shared.data.dead_letters import DeadLetters
from shared.data.hourly_limits import HourlyLimits
from shared.data.inbox import Digests, Inbox
from shared.data.messages import Messages
from shared.data.operations import Operations
from shared.data.profiles import Devices, Profiles
from shared.domain.value import value
from shared.ports import Clock, Identity, NewId, Push, ServiceIdentity, Tasks


@value
class NotificationsDeps:
    """Everything a notification asks of the world."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    new_id: NewId
    tasks: Tasks
    push: Push
    apps: Apps
    installed_apps: InstalledApps
    limits: HourlyLimits
    operations: Operations
    messages: Messages
    inbox: Inbox
    digests: Digests
    profiles: Profiles
    devices: Devices
    dead_letters: DeadLetters
    cors_origins: tuple[str, ...] = ()


def start() -> None:
    """Set up the log, and import what the first request certainly needs."""
    wiring.start("documents")


@cache
def deps() -> NotificationsDeps:
    documents = wiring.documents()
    return NotificationsDeps(
        identity=wiring.identity(),
        service_identity=wiring.service_identity(),
        clock=wiring.clock(),
        new_id=wiring.new_id(),
        tasks=wiring.tasks(),
        push=wiring.push(),
        apps=Apps(documents),
        installed_apps=InstalledApps(documents),
        limits=HourlyLimits(documents),
        operations=Operations(documents),
        messages=Messages(documents),
        inbox=Inbox(documents),
        digests=Digests(documents),
        profiles=Profiles(documents),
        devices=Devices(documents),
        dead_letters=DeadLetters(documents),
        cors_origins=wiring.settings().cors_origins,
    )
