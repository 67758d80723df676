"""Dependencies of the notifications function: the ports and stores that its stories use."""

# Annotations are not evaluated: a process imports what it uses of these, with the first request that does.
from __future__ import annotations

from typing import TYPE_CHECKING

from shared.domain.value import value

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.data.apps.cached_apps import CallingApps
    from shared.data.stores import Stores
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
