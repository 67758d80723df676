"""App cache: apps are read from the store once a minute."""

from collections.abc import Sequence
from dataclasses import replace

from shared.data.apps.apps import Apps
from shared.data.apps.cached_apps import MAX_CACHED, CachedApps
from shared.domain.apps.app import App
from shared.domain.ids import AppId, UserId
from tests.fakes import FixedClock

CLOCK = FixedClock()
APP = App(id=AppId("A"), owner=UserId("dev"), name="Notes", created_at=CLOCK.time)


class FakeApps(Apps):
    """Apps in memory; remembers what was asked for."""

    def __init__(self, *apps: App) -> None:
        self.apps = {app.id: app for app in apps}
        self.requested_ids: list[AppId] = []

    async def get_many(self, app_ids: Sequence[AppId]) -> list[App]:
        self.requested_ids += app_ids
        return [self.apps[app_id] for app_id in app_ids if app_id in self.apps]


def to_app_ids(*names: str) -> list[AppId]:
    return [AppId(name) for name in names]


async def test_an_app_is_read_again_after_a_minute():
    apps, clock = FakeApps(APP), FixedClock()
    cached = CachedApps(apps, clock)

    first = await cached.get_many(to_app_ids("A"))
    apps.apps[APP.id] = replace(APP, name="Renamed")
    clock.advance(seconds=59)
    cached_apps = await cached.get_many(to_app_ids("A"))
    clock.advance(seconds=1)
    reread_apps = await cached.get_many(to_app_ids("A"))

    assert [pinned.app.name for pinned in (*first, *cached_apps, *reread_apps)] == [
        "Notes",
        "Notes",
        "Renamed",
    ]
    assert apps.requested_ids == to_app_ids("A", "A")


async def test_missing_apps_are_cached_and_results_follow_the_order_of_the_ids():
    apps = FakeApps(APP, replace(APP, id=AppId("C")))
    cached = CachedApps(apps, FixedClock())

    for _ in range(2):
        assert [p.app.id for p in await cached.get_many(to_app_ids("C", "B", "A"))] == ["C", "A"]

    assert apps.requested_ids == to_app_ids("C", "B", "A")


async def test_an_empty_request_reads_nothing():
    apps = FakeApps()

    assert await CachedApps(apps, FixedClock()).get_many([]) == []
    assert apps.requested_ids == []


async def test_the_oldest_apps_are_evicted_beyond_the_maximum():
    apps = FakeApps(*(replace(APP, id=AppId(f"A{n}")) for n in range(MAX_CACHED + 2)))
    cached = CachedApps(apps, FixedClock())
    all_ids = list(apps.apps)

    assert len(await cached.get_many(all_ids)) == MAX_CACHED + 2
    apps.requested_ids.clear()
    await cached.get_many([all_ids[-1], all_ids[0]])

    assert apps.requested_ids == [all_ids[0]]


class EvictingApps(FakeApps):
    """While it reads B, others ask for so much that all else is forgotten."""

    cached: CachedApps

    async def get_many(self, app_ids: Sequence[AppId]) -> list[App]:
        if AppId("B") in app_ids:
            await self.cached.get_many(to_app_ids(*(f"C{n}" for n in range(MAX_CACHED))))
        return await super().get_many(app_ids)


async def test_an_app_evicted_during_a_request_is_still_returned():
    apps = EvictingApps(APP, replace(APP, id=AppId("B")))
    apps.cached = CachedApps(apps, FixedClock())
    await apps.cached.get_many(to_app_ids("A"))

    returned_apps = await apps.cached.get_many(to_app_ids("A", "B"))

    assert [pinned.app.id for pinned in returned_apps] == ["A", "B"]
