"""App cache: apps that a turn offers, and their pins, read once a minute on each instance."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from shared.data.apps import Apps
from shared.domain.app import App
from shared.domain.ids import AppId
from shared.domain.value import value
from shared.ports import Clock
from shared.security.tool_pin import compute_pins

CACHE_TTL = timedelta(seconds=60)
MAX_CACHED = 1_000


@value
class PinnedApp:
    """An app and the pins of its tools, by their names."""

    app: App
    pins: Mapping[str, str]


class CachedApps:
    """Returns apps up to a minute old; a call to an app reads it from the store again."""

    def __init__(self, apps: Apps, clock: Clock) -> None:
        self._apps = apps
        self._clock = clock
        self._cache: dict[AppId, tuple[datetime, PinnedApp | None]] = {}

    async def get_many(self, app_ids: Sequence[AppId]) -> list[PinnedApp]:
        """Return those that exist, in the order of the ids."""
        now = self._clock.now()
        apps = {app_id: self._cache[app_id][1] for app_id in app_ids if self._is_fresh(app_id, now)}
        if missing_ids := [app_id for app_id in app_ids if app_id not in apps]:
            apps_by_id = {app.id: _pin_app(app) for app in await self._apps.get_many(missing_ids)}
            apps |= {app_id: apps_by_id.get(app_id) for app_id in missing_ids}
            self._insert({app_id: (now, apps[app_id]) for app_id in missing_ids})
        return [app for app_id in app_ids if (app := apps[app_id]) is not None]

    def _insert(self, entries: Mapping[AppId, tuple[datetime, PinnedApp | None]]) -> None:
        """Insert entries as the newest, and evict the oldest."""
        self._cache = {
            app_id: entry for app_id, entry in self._cache.items() if app_id not in entries
        }
        self._cache |= entries
        for oldest_id in list(self._cache)[: max(0, len(self._cache) - MAX_CACHED)]:
            del self._cache[oldest_id]

    def _is_fresh(self, app_id: AppId, now: datetime) -> bool:
        return app_id in self._cache and now < self._cache[app_id][0] + CACHE_TTL


def _pin_app(app: App) -> PinnedApp:
    return PinnedApp(app=app, pins=compute_pins(app))
