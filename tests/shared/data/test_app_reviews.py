"""Reviews, installations and logos on both document stores: counts stay exact under concurrency."""

from dataclasses import replace
from datetime import UTC, datetime

import anyio
import pytest

from shared.data.apps.app_logos import AppLogos
from shared.data.apps.app_reviews import AppReviews
from shared.data.apps.apps import Apps, InstalledApps
from shared.domain.apps.app import App, AppLogo, InstalledApp, Rating
from shared.domain.ids import AppId, UserId
from shared.ports import Documents

NOTES = AppId("NOTES")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
USERS = [UserId(f"user{n}") for n in range(5)]


async def create_app(documents: Documents) -> App:
    app = App(id=NOTES, owner=UserId("dev"), name="Notes", created_at=NOON, user_key="k")
    await Apps(documents).create(app)
    return app


@pytest.fixture(params=["documents", "firestore_documents"])
def store(request: pytest.FixtureRequest) -> Documents:
    documents: Documents = request.getfixturevalue(request.param)
    return documents


async def test_concurrent_reviews_all_count(store: Documents):
    app = await create_app(store)
    reviews = AppReviews(store)

    async def write(uid: UserId, points: int) -> None:
        await reviews.put(app, uid, points=points, text="", username="", now=NOON)

    async with anyio.create_task_group() as tasks:
        for n, uid in enumerate(USERS):
            tasks.start_soon(write, uid, n * 100)

    assert (await Apps(store).get(NOTES)).rating == Rating(count=5, points=1_000)
    assert len(await reviews.list_newest(NOTES)) == 5


async def test_concurrent_installations_all_count(store: Documents):
    await create_app(store)
    installed_apps = InstalledApps(store)
    installation = InstalledApp(app_id=NOTES, installed_at=NOON)

    async with anyio.create_task_group() as tasks:
        for uid in USERS:
            tasks.start_soon(installed_apps.add, uid, installation)

    assert (await Apps(store).get(NOTES)).installs == len(USERS)


async def test_an_app_that_is_gone_can_be_uninstalled(store: Documents):
    await create_app(store)
    installed_apps = InstalledApps(store)
    await installed_apps.add(USERS[0], InstalledApp(app_id=NOTES, installed_at=NOON))
    await Apps(store).remove(NOTES)

    await installed_apps.remove(USERS[0], NOTES)

    assert await installed_apps.list_all(USERS[0]) == []


async def test_a_logo_is_stored_with_its_app_and_replaced(store: Documents):
    logos = [AppLogo(hash=name, content=name.encode()) for name in ("red", "blue")]
    app = App(id=NOTES, owner=UserId("dev"), name="Notes", created_at=NOON, logo="red")
    await Apps(store).create(app, logos[0])
    await Apps(store).update_app(NOTES, lambda app: replace(app, logo="blue"), logo=logos[1])

    app_logos = AppLogos(store)
    assert [await app_logos.find(NOTES, logo.hash) for logo in logos] == [None, logos[1]]
