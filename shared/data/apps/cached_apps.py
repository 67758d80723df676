"""App caches: apps as an instance read them a short while ago; their keys and users' consents are never cached."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, TypeVar

from shared.data.apps.apps import Apps
from shared.domain.apps.app import App
from shared.domain.ids import AppId
from shared.domain.value import value
from shared.security.tool_pin import compute_pins

if TYPE_CHECKING:
    from shared.ports import Clock

OFFERED_TTL = timedelta(seconds=60)
CALLING_TTL = timedelta(seconds=30)
MAX_CACHED = 1_000

T = TypeVar("T")


@value
class PinnedApp:
    """An app and the pins of its tools, by their names."""

    app: App
    pins: Mapping[str, str]


class _AppCache(Generic[T]):
    """Returns what `build` makes of apps, up to `ttl` old."""

    def __init__(
        self, apps: Apps, clock: "Clock", *, ttl: timedelta, build: Callable[[App], T]
    ) -> None:
        self._apps = apps
        self._clock = clock
        self._ttl = ttl
        self._build = build
        self._cache: dict[AppId, tuple[datetime, T | None]] = {}

    async def get_many(self, app_ids: Sequence[AppId]) -> list[T]:
        """Return those that exist, in the order of the ids."""
        now = self._clock.now()
        apps = {app_id: self._cache[app_id][1] for app_id in app_ids if self._is_fresh(app_id, now)}
        if missing_ids := [app_id for app_id in app_ids if app_id not in apps]:
            apps_by_id = {
                app.id: self._build(app) for app in await self._apps.get_many(missing_ids)
            }
            apps |= {app_id: apps_by_id.get(app_id) for app_id in missing_ids}
            self._insert({app_id: (now, apps[app_id]) for app_id in missing_ids})
        return [app for app_id in app_ids if (app := apps[app_id]) is not None]

    def _insert(self, entries: Mapping[AppId, tuple[datetime, T | None]]) -> None:
        """Insert entries as the newest, and evict the oldest."""
        self._cache = {
            app_id: entry for app_id, entry in self._cache.items() if app_id not in entries
        }
        self._cache |= entries
        for oldest_id in list(self._cache)[: max(0, len(self._cache) - MAX_CACHED)]:
            del self._cache[oldest_id]

    def _is_fresh(self, app_id: AppId, now: datetime) -> bool:
        return app_id in self._cache and now < self._cache[app_id][0] + self._ttl


class CachedApps(_AppCache[PinnedApp]):
    """Apps that turns offer, up to a minute old; a call to an app reads it from the store again."""

    def __init__(self, apps: Apps, clock: "Clock") -> None:
        super().__init__(apps, clock, ttl=OFFERED_TTL, build=_pin_app)


class CallingApps(_AppCache[App]):
    """Apps that call us, up to half a minute old."""

    def __init__(self, apps: Apps, clock: "Clock") -> None:
        super().__init__(apps, clock, ttl=CALLING_TTL, build=lambda app: app)


def _pin_app(app: App) -> PinnedApp:
    return PinnedApp(app=app, pins=compute_pins(app))
