"""Dependencies of the library's entry points beside those that rooms share."""

# Annotations are not evaluated: a process imports what it uses of these, with the first request that does.
from __future__ import annotations

from typing import TYPE_CHECKING

from shared.domain.value import value
from shared.library.deps import EndpointDeps, IntegrationDeps

if TYPE_CHECKING:
    from datetime import timedelta

    from shared.data.account.erasures import Erasures
    from shared.data.apps.cached_apps import CallingApps
    from shared.data.chats.crisis_log import CrisisLog
    from shared.data.stores import Stores
    from shared.ports import (
        Blobs,
        Models,
        NewId,
        ResidualData,
        ToolBox,
        Vectors,
    )


@value
class AppRequestDeps(IntegrationDeps):
    """What a request of an app needs, beside what it does; `model` finds facts in its texts."""

    calling_apps: CallingApps
    model: Models


@value
class EraseDeps(EndpointDeps):
    """What erasing an account needs.

    `grace` is how long after its request work may go on that began before.
    """

    new_id: NewId
    stores: Stores
    erasures: Erasures
    toolbox: ToolBox
    vectors: Vectors
    blobs: Blobs
    residual_data: ResidualData
    crisis_log: CrisisLog
    grace: timedelta
