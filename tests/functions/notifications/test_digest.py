"""Digests: deferred notifications are in the inbox at once, and one push follows (T16)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.notifications.digest import defer_to_digest, format_summary
from shared.domain.account.notification import NotificationId, build_digest, build_digest_id
from shared.domain.ids import AppId
from tests.fixtures.notifications import ALICE, NotificationsFixture

NIGHT = datetime(2026, 3, 2, 22, 30, tzinfo=UTC)
MORNING = datetime(2026, 3, 3, 7, 0, tzinfo=UTC)
READ_BATCH_SIZE = 400
QUIET = {"from": "22:00", "to": "07:00"}


@pytest.fixture
async def night(world: NotificationsFixture) -> NotificationsFixture:
    return await set_up_night(world)


async def set_up_night(world: NotificationsFixture) -> NotificationsFixture:
    """Build a fixture in which Alice has quiet hours, a phone and two apps installed."""
    await world.register_app()
    await world.register_app(AppId("news"), name="News")
    await world.add_devices("phone")
    await world.change_preferences(quiet_hours=QUIET)
    world.clock.time = NIGHT
    return world


async def deliver_at(world: NotificationsFixture, time: datetime) -> list[int]:
    world.clock.time = time
    return [response.status_code for response in await world.deliver()]


def list_push_texts(world: NotificationsFixture) -> list[str]:
    return [message.body for _, message in world.push.sent_messages]


async def get_state(world: NotificationsFixture, response: Any) -> Any:
    return (await world.get_receipt(response.headers["X-Notification-Id"])).json()["state"]


async def test_notifications_of_a_night_are_one_push_in_the_morning_t16(
    night: NotificationsFixture,
):
    responses = [await night.post(message=f"Gust {n}.") for n in range(3)]
    await night.post(aid="news", message="Snow in Rome.")

    await night.deliver()
    states_at_night = [await get_state(night, answer) for answer in responses]
    early_statuses = await deliver_at(night, MORNING - timedelta(seconds=1))
    due_statuses = await deliver_at(night, MORNING)

    assert (states_at_night, early_statuses, due_statuses) == (["held"] * 3, [], [200])
    (_, push), *others = night.push.sent_messages
    assert (push.title, push.body, others) == (
        "During your quiet hours",
        "4 notifications: Weather 3, News 1",
        [],
    )
    assert push.data["navigate_to"] == "/inbox"
    assert [await get_state(night, answer) for answer in responses] == ["sent"] * 3


@pytest.mark.emulators
async def test_notifications_of_a_night_are_one_push_on_firestore_t16(
    firestore_world: NotificationsFixture,
):
    night = await set_up_night(firestore_world)
    responses = [await night.post(message=f"Gust {n}.", idempotency_key=f"k{n}") for n in range(3)]
    await night.post(message="Gust 0.", idempotency_key="k0")

    await night.deliver()
    states_at_night = [await get_state(night, answer) for answer in responses]
    await deliver_at(night, MORNING)

    assert (states_at_night, list_push_texts(night)) == (
        ["held"] * 3,
        ["3 notifications: Weather 3"],
    )
    assert [await get_state(night, answer) for answer in responses] == ["sent"] * 3


async def test_a_deferred_notification_is_in_the_inbox_at_once_t16(night: NotificationsFixture):
    await night.post(message="x" * 4000)
    await night.deliver()

    assert [item["body"] for item in (await night.get_inbox())["items"]] == ["x" * 4000]


async def test_a_retried_digest_keeps_its_tag_and_is_shown_once_t16(night: NotificationsFixture):
    await night.post()
    await night.deliver()
    night.push.is_down = True
    first_statuses = await deliver_at(night, MORNING)

    night.push.is_down = False
    second_statuses = await deliver_at(night, MORNING + timedelta(seconds=60))
    body = {"uid": ALICE, "id": build_digest_id(MORNING)}
    late_response = await night.redeliver(body, "deliver_digest")

    assert (first_statuses, second_statuses, late_response.status_code) == ([503], [200], 200)
    assert len({message.tag for _, message in night.push.sent_messages}) == 1
    assert len(night.push.sent_messages) == 2


async def test_each_night_has_a_digest_of_its_own_t16(night: NotificationsFixture):
    for day in (0, 1):
        night.clock.time = NIGHT + timedelta(days=day)
        await night.post()
        await night.deliver()
        await deliver_at(night, MORNING + timedelta(days=day))

    assert list_push_texts(night) == ["1 notification: Weather 1"] * 2
    assert len({message.tag for _, message in night.push.sent_messages}) == 2


@pytest.mark.parametrize(
    ("changes", "pushed_texts"),
    [
        ({}, ["2 notifications: News 1, Weather 1"]),
        ({"muted_apps": ["news"]}, ["1 notification: Weather 1"]),
        ({"muted_apps": ["news", "weather"]}, []),
        ({"enabled": False}, []),
        ({"quiet_hours": None}, ["2 notifications: News 1, Weather 1"]),
    ],
)
async def test_a_digest_follows_the_preferences_of_the_time_it_is_pushed_t16(
    night: NotificationsFixture, changes: dict[str, Any], pushed_texts: list[str]
):
    await night.post()
    await night.post(aid="news")
    await night.deliver()

    await night.change_preferences(**changes)
    await deliver_at(night, MORNING)

    assert list_push_texts(night) == pushed_texts
    assert await night.deps.stores.inbox.list_deferred(ALICE, MORNING) == []


async def test_longer_quiet_hours_defer_the_digest_further_t16(night: NotificationsFixture):
    await night.post()
    await night.deliver()

    await night.change_preferences(quiet_hours={"from": "22:00", "to": "09:00"})
    await deliver_at(night, MORNING)
    early_pushes = list_push_texts(night)
    await deliver_at(night, MORNING + timedelta(hours=2))

    assert (early_pushes, list_push_texts(night)) == ([], ["1 notification: Weather 1"])


async def fill_digest(night: NotificationsFixture) -> None:
    """Defer one notification more than one read returns."""
    await night.post()
    await night.deliver()
    [first] = await night.deps.stores.inbox.list_deferred(ALICE, MORNING)
    for n in range(READ_BATCH_SIZE):
        copy = replace(first, id=NotificationId(f"gust-{n}"))
        await night.deps.stores.inbox.add(ALICE, copy)


async def test_a_digest_counts_more_notifications_than_one_read_returns_t16(
    night: NotificationsFixture,
):
    await fill_digest(night)

    await deliver_at(night, MORNING)

    assert list_push_texts(night) == ["401 notifications: Weather 401"]
    assert await night.deps.stores.inbox.list_deferred(ALICE, MORNING) == []


async def test_longer_quiet_hours_lose_none_of_many_notifications_t16(night: NotificationsFixture):
    await fill_digest(night)

    await night.change_preferences(quiet_hours={"from": "22:00", "to": "09:00"})
    await deliver_at(night, MORNING)
    early_pushes = list_push_texts(night)
    await deliver_at(night, MORNING + timedelta(hours=2))

    assert (early_pushes, list_push_texts(night)) == ([], ["401 notifications: Weather 401"])


async def test_without_a_digest_a_notification_in_quiet_hours_stays_in_the_inbox_t16(
    night: NotificationsFixture,
):
    await night.change_preferences(digest=False)
    answer = await night.post()
    await night.deliver()
    await deliver_at(night, MORNING)

    assert list_push_texts(night) == []
    assert await get_state(night, answer) == "sent"
    assert len((await night.get_inbox())["items"]) == 1


async def test_a_notification_of_a_muted_app_is_only_in_the_inbox_t16(world: NotificationsFixture):
    await world.register_app()
    await world.change_preferences(muted_apps=["weather"])

    answer = await world.post()
    await world.deliver()

    assert world.push.sent_messages == []
    assert await get_state(world, answer) == "sent"
    assert [item["body"] for item in (await world.get_inbox())["items"]] == ["Rain at five."]


async def test_a_digest_comes_at_its_hour_in_the_users_time_zone_t16(night: NotificationsFixture):
    await night.deps.stores.profiles.change(ALICE, time_zone="America/New_York")
    await night.change_preferences(quiet_hours={"from": "12:00", "to": "18:00"}, digest_hour=20)
    await night.post()  # 17:30 in New York
    await night.deliver()

    early_statuses = await deliver_at(night, datetime(2026, 3, 3, 0, 59, 59, tzinfo=UTC))
    due_statuses = await deliver_at(night, datetime(2026, 3, 3, 1, 0, tzinfo=UTC))

    assert (early_statuses, due_statuses) == ([], [200])
    assert list_push_texts(night) == ["1 notification: Weather 1"]


async def test_a_read_notification_is_left_out_of_the_digest_t16(night: NotificationsFixture):
    response, _ = await night.post(), await night.post(aid="news")
    await night.deliver()
    await night.mark_read(response.headers["X-Notification-Id"])

    await deliver_at(night, MORNING)

    assert list_push_texts(night) == ["1 notification: News 1"]


async def test_no_notification_is_deferred_to_a_digest_that_was_pushed_t16(
    night: NotificationsFixture,
):
    """The clock of another instance may be behind."""
    await night.post()
    await night.deliver()
    await deliver_at(night, MORNING)

    night.clock.time = MORNING - timedelta(seconds=1)
    late_response = await night.post(message="Late.")
    await night.deliver()

    assert list_push_texts(night)[1:] == ["Late."]
    assert await get_state(night, late_response) == "sent"


async def test_a_due_digest_is_pushed_even_if_the_clock_is_behind_t16(night: NotificationsFixture):
    await night.post()
    await night.deliver()

    night.clock.time = MORNING - timedelta(seconds=1)
    await night.redeliver({"uid": ALICE, "id": build_digest_id(MORNING)}, "deliver_digest")

    assert list_push_texts(night) == ["1 notification: Weather 1"]


async def test_a_deferred_notification_is_pushed_only_by_its_digest_t16(
    night: NotificationsFixture,
):
    answer = await night.post()
    await night.deliver()

    night.clock.time = MORNING
    await night.redeliver({"uid": ALICE, "id": answer.headers["X-Notification-Id"]})
    await night.deliver()

    assert list_push_texts(night) == ["1 notification: Weather 1"]


async def test_a_sent_or_missing_notification_is_not_deferred_t16(night: NotificationsFixture):
    night.clock.time = NIGHT.replace(hour=21)
    answer = await night.post()
    notification_id = NotificationId(answer.headers["X-Notification-Id"])
    notification = await night.deps.stores.inbox.get(ALICE, notification_id)
    assert notification is not None
    await night.deliver()

    assert await defer_to_digest(night.deps, ALICE, notification, until=MORNING)
    assert await night.deps.stores.digests.defer(
        ALICE, build_digest(MORNING), NotificationId("gone")
    )
    assert await night.deps.stores.inbox.list_deferred(ALICE, MORNING) == []


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({"A": 1}, "1 notification: A 1"),
        ({"A": 1, "B": 3}, "4 notifications: B 3, A 1"),
        (dict.fromkeys("ABCDEFG", 2), "14 notifications: A 2, B 2, C 2, D 2, E 2, others 4"),
    ],
)
def test_a_digest_names_how_many_from_which_apps(counts: dict[str, int], text: str):
    assert format_summary(counts) == text
