"""Wiring of the library: what its entry points need beside what all functions share."""

from typing import TYPE_CHECKING

from shared import wiring
from shared.build_deps import DepsBuilder

if TYPE_CHECKING:
    from datetime import timedelta

    from functions.library.programs.oauth.registrations import ProgramRegistrations
    from shared.data.apps.cached_apps import CallingApps
    from shared.ports import ToolBox
    from shared.resilience.key_rate_limiter import KeyRateLimiter


class _Parts:
    @staticmethod
    def calling_apps() -> "CallingApps":
        from shared.data.apps.cached_apps import CallingApps

        return CallingApps(wiring.stores().apps, wiring.clock())

    @staticmethod
    def key_rate_limiter() -> "KeyRateLimiter":
        return _build_rate_limiter()

    @staticmethod
    def share_rate_limiter() -> "KeyRateLimiter":
        return _build_rate_limiter()

    @staticmethod
    def registrations() -> "ProgramRegistrations":
        from functions.library.programs.oauth.registrations import ProgramRegistrations

        return ProgramRegistrations(wiring.world().read_pseudonym_key())

    @staticmethod
    def token_key() -> bytes:
        return wiring.world().read_pseudonym_key()

    @staticmethod
    def toolbox() -> "ToolBox":
        return wiring.toolbox("erase_account")

    @staticmethod
    def grace() -> "timedelta":
        return wiring.erasure_grace()


def _build_rate_limiter() -> "KeyRateLimiter":
    from shared.resilience.key_rate_limiter import KeyRateLimiter

    return KeyRateLimiter(unit="requests")


build_deps = DepsBuilder(_Parts)
