"""Dependencies of the notifications function: the ports and stores that its stories use."""

from collections.abc import Callable

from shared.data.cached_apps import CallingApps
from shared.data.stores import Stores
from shared.domain.value import value
from shared.ports import Clock, Identity, NewId, Push, ServiceIdentity, Tasks


@value
class NotificationsDeps:
    """What posting and delivering notifications needs."""

    identity: Identity
    service_identity: ServiceIdentity
    clock: Clock
    new_id: NewId
    tasks: Tasks
    push: Push
    read_web_push_key: Callable[[], str]
    """Returns what browsers subscribe with."""
    stores: Stores
    calling_apps: CallingApps
