"""Apps that are read once a minute, and what that may and may not hide."""

from collections.abc import Sequence
from dataclasses import replace

from shared.data.apps import Apps
from shared.data.cached_apps import MOST_KEPT, CachedApps
from shared.domain.app import App
from shared.domain.ids import AppId, UserId
from tests.doubles import FixedClock

CLOCK = FixedClock()
APP = App(id=AppId("A"), owner=UserId("dev"), name="Notes", created_at=CLOCK.time)


class Shelf(Apps):
    """Apps in memory; remembers what was asked for."""

    def __init__(self, *apps: App) -> None:
        self.apps = {app.id: app for app in apps}
        self.asked: list[AppId] = []

    async def get_many(self, app_ids: Sequence[AppId]) -> list[App]:
        self.asked += app_ids
        return [self.apps[app_id] for app_id in app_ids if app_id in self.apps]


def named(*names: str) -> list[AppId]:
    return [AppId(name) for name in names]


async def test_an_app_is_read_once_a_minute_and_then_anew():
    shelf, clock = Shelf(APP), FixedClock()
    cached = CachedApps(shelf, clock)

    first = await cached.get_many(named("A"))
    shelf.apps[APP.id] = replace(APP, name="Renamed")
    clock.pass_(seconds=59)
    kept = await cached.get_many(named("A"))
    clock.pass_(seconds=1)
    anew = await cached.get_many(named("A"))

    assert [app.name for app in (*first, *kept, *anew)] == ["Notes", "Notes", "Renamed"]
    assert shelf.asked == named("A", "A")


async def test_what_is_missing_is_remembered_too_and_the_order_is_that_of_the_ids():
    shelf = Shelf(APP, replace(APP, id=AppId("C")))
    cached = CachedApps(shelf, FixedClock())

    for _ in range(2):
        assert [app.id for app in await cached.get_many(named("C", "B", "A"))] == ["C", "A"]

    assert shelf.asked == named("C", "B", "A")


async def test_nothing_is_asked_for_nothing():
    shelf = Shelf()

    assert await CachedApps(shelf, FixedClock()).get_many([]) == []
    assert shelf.asked == []


async def test_no_more_than_so_many_are_kept_the_newest_of_them():
    shelf = Shelf(*(replace(APP, id=AppId(f"A{n}")) for n in range(MOST_KEPT + 2)))
    cached = CachedApps(shelf, FixedClock())
    everything = list(shelf.apps)

    assert len(await cached.get_many(everything)) == MOST_KEPT + 2
    shelf.asked.clear()
    await cached.get_many([everything[-1], everything[0]])

    assert shelf.asked == [everything[0]]


class Crowded(Shelf):
    """While it reads B, others ask for so much that all else is forgotten."""

    cached: CachedApps

    async def get_many(self, app_ids: Sequence[AppId]) -> list[App]:
        if AppId("B") in app_ids:
            await self.cached.get_many(named(*(f"C{n}" for n in range(MOST_KEPT))))
        return await super().get_many(app_ids)


async def test_what_was_kept_when_it_was_asked_for_is_found_though_it_is_forgotten_meanwhile():
    shelf = Crowded(APP, replace(APP, id=AppId("B")))
    shelf.cached = CachedApps(shelf, FixedClock())
    await shelf.cached.get_many(named("A"))

    found = await shelf.cached.get_many(named("A", "B"))

    assert [app.id for app in found] == ["A", "B"]
