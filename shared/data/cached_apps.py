"""Apps as a turn offers them: read once a minute on each instance."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from shared.data.apps import Apps
from shared.domain.app import App
from shared.domain.ids import AppId
from shared.ports import Clock

KEPT = timedelta(seconds=60)
MOST_KEPT = 1_000


class CachedApps:
    """What was read may be a minute old: whoever calls an app asks the store again."""

    def __init__(self, apps: Apps, clock: Clock) -> None:
        self._apps = apps
        self._clock = clock
        self._kept: dict[AppId, tuple[datetime, App | None]] = {}

    async def get_many(self, app_ids: Sequence[AppId]) -> list[App]:
        """Return those that exist, in the order of the ids."""
        now = self._clock.now()
        apps = {app_id: self._kept[app_id][1] for app_id in app_ids if self._is_fresh(app_id, now)}
        if unknown := [app_id for app_id in app_ids if app_id not in apps]:
            found = {app.id: app for app in await self._apps.get_many(unknown)}
            apps |= {app_id: found.get(app_id) for app_id in unknown}
            self._keep({app_id: (now, apps[app_id]) for app_id in unknown})
        return [app for app_id in app_ids if (app := apps[app_id]) is not None]

    def _keep(self, read: Mapping[AppId, tuple[datetime, App | None]]) -> None:
        """What was read anew stands last; the oldest is forgotten."""
        self._kept = {app_id: kept for app_id, kept in self._kept.items() if app_id not in read}
        self._kept |= read
        for oldest in list(self._kept)[: max(0, len(self._kept) - MOST_KEPT)]:
            del self._kept[oldest]

    def _is_fresh(self, app_id: AppId, now: datetime) -> bool:
        return app_id in self._kept and now < self._kept[app_id][0] + KEPT
