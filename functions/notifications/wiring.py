"""Wiring of notifications: what its entry points need beside what all functions share."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from shared import wiring
from shared.build_deps import DepsBuilder

if TYPE_CHECKING:
    from shared.data.apps.cached_apps import CallingApps


class _Parts:
    @staticmethod
    def read_web_push_key() -> Callable[[], str]:
        return wiring.web_push_key

    @staticmethod
    def calling_apps() -> "CallingApps":
        from shared.data.apps.cached_apps import CallingApps

        return CallingApps(wiring.stores().apps, wiring.clock())


build_deps = DepsBuilder(_Parts)
