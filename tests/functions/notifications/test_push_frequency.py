"""Frequency of pushes: apps push as often a day as their user wants, the inbox has the rest (R1)."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.account.notification import Notification, NotificationId
from shared.domain.account.notification_preferences import PUSHES_A_DAY
from shared.domain.ids import AppId
from tests.fixtures.callers import build_auth_headers
from tests.fixtures.notifications import ALICE, NOW, NotificationsFixture

PATH = "/v1/users/mentor-notification-settings"


async def set_frequency(world: NotificationsFixture, frequency: int) -> None:
    body, headers = {"frequency": frequency}, build_auth_headers(ALICE)
    response = await world.request("PATCH", PATH, json=body, headers=headers)
    assert (response.status_code, response.json()) == (200, body)


async def post_from_apps(world: NotificationsFixture, count: int) -> None:
    """Post as four apps in turn, so that the limit of none is reached; deliver all."""
    app_ids = [AppId(f"app{n}") for n in range(4)]
    for app_id in app_ids:
        await world.register_app(app_id, name=app_id)
    for n in range(count):
        await world.post(aid=app_ids[n % 4], message=f"Gust {n}.")
        await world.deliver()


def count_pushes(world: NotificationsFixture) -> int:
    return len(world.push.sent_messages)


@pytest.mark.parametrize(("frequency", "limit"), list(enumerate(PUSHES_A_DAY)))
async def test_a_frequency_bounds_the_pushes_of_all_apps_in_a_day_r1(
    world: NotificationsFixture, frequency, limit
):
    await world.add_devices("phone")
    await set_frequency(world, frequency)

    await post_from_apps(world, 23)

    assert count_pushes(world) == (23 if limit is None else limit)
    assert len((await world.get_inbox(limit=100))["items"]) == 23


async def test_every_user_begins_without_a_bound_r1(world: NotificationsFixture):
    response = await world.request("GET", PATH, headers=build_auth_headers("bob"))

    assert response.json() == {"frequency": 5}


async def test_a_day_is_the_local_day_of_the_user_r1(world: NotificationsFixture):
    await world.add_devices("phone")
    await set_frequency(world, 1)
    await world.deps.stores.profiles.change(ALICE, time_zone="Asia/Tokyo")
    world.clock.time = datetime(2026, 3, 2, 14, 59, tzinfo=UTC)
    await post_from_apps(world, 3)
    before_midnight = count_pushes(world)
    world.clock.time += timedelta(minutes=1)

    await world.post(aid="app0", message="A new day.")
    await world.deliver()

    assert (before_midnight, count_pushes(world)) == (2, 3)


async def test_a_redelivered_push_is_counted_once_r1(world: NotificationsFixture):
    await world.register_app()
    await world.add_devices("phone")
    await set_frequency(world, 1)
    answer = await world.post()
    task = {"uid": ALICE, "id": answer.headers["X-Notification-Id"]}
    for _ in range(3):
        await world.redeliver(task)

    await world.post(message="Another.")
    await world.deliver()

    assert count_pushes(world) == 2


async def test_what_is_no_app_post_is_not_bounded_r1(world: NotificationsFixture):
    await world.add_devices("phone")
    await set_frequency(world, 0)
    notice = Notification(
        id=NotificationId("off"),
        app_id=AppId("weather"),
        title="Weather was switched off",
        body="Every call failed.",
        created_at=NOW,
        delivered_at=NOW,
    )
    await world.deps.stores.inbox.add(ALICE, notice)

    await world.redeliver({"uid": ALICE, "id": notice.id})

    assert count_pushes(world) == 1


async def test_no_digest_tells_of_apps_that_may_not_push_r1(world: NotificationsFixture):
    await world.register_app()
    await world.add_devices("phone")
    await world.change_preferences(quiet_hours={"from": "10:00", "to": "14:00"})
    await set_frequency(world, 0)
    await world.post()
    await world.deliver()

    world.clock.time = NOW + timedelta(days=1)
    await world.deliver()

    assert count_pushes(world) == 0


@pytest.mark.parametrize("body", [{}, {"frequency": 6}, {"frequency": -1}, {"frequency": None}])
async def test_an_unknown_frequency_is_refused_r1(world: NotificationsFixture, body):
    response = await world.request("PATCH", PATH, json=body, headers=build_auth_headers(ALICE))

    assert response.status_code == 422
    assert isinstance(response.json()["detail"], str)
