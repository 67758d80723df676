"""T16: what quiet hours hold back is whole in the inbox at once, and comes as one push at their end."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.notifications.digest import hold, summary
from shared.domain.ids import AppId
from shared.domain.notification import NotificationId, digest_id, new_digest
from tests.functions.notifications.world import ALICE, World

NIGHT = datetime(2026, 3, 2, 22, 30, tzinfo=UTC)
MORNING = datetime(2026, 3, 3, 7, 0, tzinfo=UTC)
AT_ONCE = 400
QUIET = {"from": "22:00", "to": "07:00"}


@pytest.fixture
async def night(world: World) -> World:
    return await asleep(world)


async def asleep(world: World) -> World:
    """Let Alice sleep from ten to seven, with a phone beside her, and two apps installed."""
    await world.register()
    await world.register(AppId("news"), name="News")
    await world.add_devices("phone")
    await world.prefer(quiet_hours=QUIET)
    world.clock.time = NIGHT
    return world


async def at(world: World, time: datetime) -> list[int]:
    world.clock.time = time
    return [response.status_code for response in await world.deliver()]


def pushes(world: World) -> list[str]:
    return [message.body for _, message in world.push.sent]


async def state(world: World, answer: Any) -> Any:
    return (await world.receipt(answer.headers["X-Notification-Id"])).json()["state"]


async def test_t16_what_comes_at_night_is_one_push_in_the_morning(night: World):
    posted = [await night.post(message=f"Gust {n}.") for n in range(3)]
    await night.post(aid="news", message="Snow in Rome.")

    await night.deliver()
    held = [await state(night, answer) for answer in posted]
    early = await at(night, MORNING - timedelta(seconds=1))
    due = await at(night, MORNING)

    assert (held, early, due) == (["held"] * 3, [], [200])
    (_, push), *others = night.push.sent
    assert (push.title, push.body, others) == (
        "While it was quiet",
        "4 notifications: Weather 3, News 1",
        [],
    )
    assert push.data["navigate_to"] == "/inbox"
    assert [await state(night, answer) for answer in posted] == ["sent"] * 3


@pytest.mark.emulators
async def test_t16_on_firestore_too_a_night_is_one_push(firestore_world: World):
    night = await asleep(firestore_world)
    posted = [await night.post(message=f"Gust {n}.", idempotency_key=f"k{n}") for n in range(3)]
    await night.post(message="Gust 0.", idempotency_key="k0")

    await night.deliver()
    held = [await state(night, answer) for answer in posted]
    await at(night, MORNING)

    assert (held, pushes(night)) == (["held"] * 3, ["3 notifications: Weather 3"])
    assert [await state(night, answer) for answer in posted] == ["sent"] * 3


async def test_t16_what_is_held_back_stands_whole_in_the_inbox_at_once(night: World):
    await night.post(message="x" * 4000)
    await night.deliver()

    assert [item["body"] for item in (await night.inbox())["items"]] == ["x" * 4000]


async def test_t16_a_digest_that_comes_again_has_the_same_tag_and_is_told_once(night: World):
    await night.post()
    await night.deliver()
    night.push.down = True
    failed = await at(night, MORNING)

    night.push.down = False
    again = await at(night, MORNING + timedelta(seconds=60))
    body = {"uid": ALICE, "id": digest_id(MORNING)}
    late = await night.redeliver(body, "deliver_digest")

    assert (failed, again, late.status_code) == ([503], [200], 200)
    assert len({message.tag for _, message in night.push.sent}) == 1
    assert len(night.push.sent) == 2


async def test_t16_each_night_has_a_digest_of_its_own(night: World):
    for day in (0, 1):
        night.clock.time = NIGHT + timedelta(days=day)
        await night.post()
        await night.deliver()
        await at(night, MORNING + timedelta(days=day))

    assert pushes(night) == ["1 notification: Weather 1"] * 2
    assert len({message.tag for _, message in night.push.sent}) == 2


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ["2 notifications: News 1, Weather 1"]),
        ({"muted_apps": ["news"]}, ["1 notification: Weather 1"]),
        ({"muted_apps": ["news", "weather"]}, []),
        ({"enabled": False}, []),
        ({"quiet_hours": None}, ["2 notifications: News 1, Weather 1"]),
    ],
)
async def test_t16_a_preference_that_changed_meanwhile_is_honoured_when_it_is_told(
    night: World, changes: dict[str, Any], told: list[str]
):
    await night.post()
    await night.post(aid="news")
    await night.deliver()

    await night.prefer(**changes)
    await at(night, MORNING)

    assert pushes(night) == told
    assert await night.deps.inbox.held(ALICE, MORNING) == []


async def test_t16_quiet_hours_that_were_made_longer_hold_it_on(night: World):
    await night.post()
    await night.deliver()

    await night.prefer(quiet_hours={"from": "22:00", "to": "09:00"})
    await at(night, MORNING)
    quiet = pushes(night)
    await at(night, MORNING + timedelta(hours=2))

    assert (quiet, pushes(night)) == ([], ["1 notification: Weather 1"])


async def crowd(night: World) -> None:
    """Hold back one notification more than are read at once."""
    await night.post()
    await night.deliver()
    [first] = await night.deps.inbox.held(ALICE, MORNING)
    for n in range(AT_ONCE):
        more = replace(first, id=NotificationId(f"gust-{n}"))
        await night.deps.inbox.add(ALICE, more)


async def test_t16_a_digest_counts_all_however_many_they_are(night: World):
    await crowd(night)

    await at(night, MORNING)

    assert pushes(night) == ["401 notifications: Weather 401"]
    assert await night.deps.inbox.held(ALICE, MORNING) == []


async def test_t16_of_many_none_is_lost_where_quiet_hours_were_made_longer(night: World):
    await crowd(night)

    await night.prefer(quiet_hours={"from": "22:00", "to": "09:00"})
    await at(night, MORNING)
    quiet = pushes(night)
    await at(night, MORNING + timedelta(hours=2))

    assert (quiet, pushes(night)) == ([], ["401 notifications: Weather 401"])


async def test_t16_without_a_digest_it_stays_in_the_inbox(night: World):
    await night.prefer(digest=False)
    answer = await night.post()
    await night.deliver()
    await at(night, MORNING)

    assert pushes(night) == []
    assert await state(night, answer) == "sent"
    assert len((await night.inbox())["items"]) == 1


async def test_t16_a_muted_app_is_in_the_inbox_alone(world: World):
    await world.register()
    await world.prefer(muted_apps=["weather"])

    answer = await world.post()
    await world.deliver()

    assert world.push.sent == []
    assert await state(world, answer) == "sent"
    assert [item["body"] for item in (await world.inbox())["items"]] == ["Rain at five."]


async def test_t16_the_digest_comes_at_its_hour_in_the_owners_zone(night: World):
    await night.deps.profiles.change(ALICE, time_zone="America/New_York")
    await night.prefer(quiet_hours={"from": "12:00", "to": "18:00"}, digest_hour=20)
    await night.post()  # 17:30 in New York
    await night.deliver()

    before = await at(night, datetime(2026, 3, 3, 0, 59, 59, tzinfo=UTC))
    due = await at(night, datetime(2026, 3, 3, 1, 0, tzinfo=UTC))

    assert (before, due) == ([], [200])
    assert pushes(night) == ["1 notification: Weather 1"]


async def test_t16_what_was_read_in_the_inbox_is_not_told_again(night: World):
    read, _ = await night.post(), await night.post(aid="news")
    await night.deliver()
    await night.read(read.headers["X-Notification-Id"])

    await at(night, MORNING)

    assert pushes(night) == ["1 notification: News 1"]


async def test_t16_nothing_is_held_for_a_digest_that_was_told(night: World):
    """A clock that is behind another: it still says night when the digest has been told."""
    await night.post()
    await night.deliver()
    await at(night, MORNING)

    night.clock.time = MORNING - timedelta(seconds=1)
    late = await night.post(message="Late.")
    await night.deliver()

    assert pushes(night)[1:] == ["Late."]
    assert await state(night, late) == "sent"


async def test_t16_a_digest_that_is_due_is_told_where_the_clock_is_behind(night: World):
    await night.post()
    await night.deliver()

    night.clock.time = MORNING - timedelta(seconds=1)
    await night.redeliver({"uid": ALICE, "id": digest_id(MORNING)}, "deliver_digest")

    assert pushes(night) == ["1 notification: Weather 1"]


async def test_t16_what_is_held_is_told_by_its_digest_alone_whichever_task_comes_first(
    night: World,
):
    answer = await night.post()
    await night.deliver()

    night.clock.time = MORNING
    await night.redeliver({"uid": ALICE, "id": answer.headers["X-Notification-Id"]})
    await night.deliver()

    assert pushes(night) == ["1 notification: Weather 1"]


async def test_t16_what_is_sent_or_gone_is_not_held(night: World):
    night.clock.time = NIGHT.replace(hour=21)
    answer = await night.post()
    notification_id = NotificationId(answer.headers["X-Notification-Id"])
    notification = await night.deps.inbox.get(ALICE, notification_id)
    assert notification is not None
    await night.deliver()

    assert await hold(night.deps, ALICE, notification, until=MORNING)
    assert await night.deps.digests.join(ALICE, new_digest(MORNING), NotificationId("gone"))
    assert await night.deps.inbox.held(ALICE, MORNING) == []


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({"A": 1}, "1 notification: A 1"),
        ({"A": 1, "B": 3}, "4 notifications: B 3, A 1"),
        (dict.fromkeys("ABCDEFG", 2), "14 notifications: A 2, B 2, C 2, D 2, E 2, others 4"),
    ],
)
def test_a_digest_names_how_many_from_which_apps(counts: dict[str, int], text: str):
    assert summary(counts) == text
