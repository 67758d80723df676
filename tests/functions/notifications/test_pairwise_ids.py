"""Pairwise user ids in posts of apps: whom an app means by the id that it knows (T12)."""

import pytest

from shared.domain.apps.app import InstalledApp
from shared.domain.ids import AppId
from shared.domain.store.documents import Update
from shared.security.pairwise_id import create_pairwise_id
from tests.fixtures.notifications import ALICE, NOW, WEATHER, NotificationsFixture

KEY_OF_WEATHER, KEY_OF_NEWS = "ab" * 32, "cd" * 32
NEWS = AppId("news")


async def register_apps(world: NotificationsFixture) -> None:
    """Register two apps that know Alice by an id each."""
    for app_id, user_key in ((WEATHER, KEY_OF_WEATHER), (NEWS, KEY_OF_NEWS)):
        await world.register_app(app_id, name=app_id)
        await world.documents.write(Update(f"apps/{app_id}", {"user_key": user_key}))
        pairwise_id = create_pairwise_id(user_key, ALICE)
        installation = InstalledApp(app_id=app_id, installed_at=NOW, pairwise_id=pairwise_id)
        await world.deps.stores.installed_apps.add(ALICE, installation)


async def test_a_post_to_a_pairwise_id_reaches_its_user_t12(world: NotificationsFixture):
    await register_apps(world)
    pairwise_id = create_pairwise_id(KEY_OF_WEATHER, ALICE)

    response = await world.post(uid=pairwise_id, idempotency_key="k1")
    repeated = await world.post(uid=pairwise_id, idempotency_key="k1")
    await world.deliver()

    assert (response.status_code, repeated.status_code) == (200, 200)
    assert [item["body"] for item in (await world.get_inbox())["items"]] == ["Rain at five."]
    receipt = await world.get_receipt(response.headers["X-Notification-Id"], uid=pairwise_id)
    assert receipt.status_code == 200
    assert (await world.post()).headers["X-RateLimit-Remaining"] == "8", "one limit for both ids"


@pytest.mark.parametrize("user_key", [KEY_OF_NEWS, "ef" * 32])
async def test_the_id_of_another_app_reaches_nobody_t12(world: NotificationsFixture, user_key: str):
    await register_apps(world)

    response = await world.post(uid=create_pairwise_id(user_key, ALICE))

    detail = "User does not have this app installed"
    assert (response.status_code, response.json()["detail"]) == (403, detail)
