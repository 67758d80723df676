"""What a notification's task does, however often it runs; parts of T16."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.notifications.push import ATTEMPTS, clip, push_message
from shared.domain.ids import AppId, UserId
from shared.domain.notification import Notification, NotificationId
from shared.ports import PushMessage
from tests.functions.notifications.world import ALICE, World

FCM_LIMIT = 4096


@pytest.fixture
async def job(world: World) -> Mapping[str, str]:
    """Let Weather post to Alice, and take the task's body."""
    await world.register()
    await world.post()
    (job,) = await world.queue.claim(10)
    return job.body


async def test_a_push_goes_to_every_device_and_dead_ones_are_forgotten(
    world: World, job: Mapping[str, str]
):
    await world.add_devices("alive", "dead")
    world.push.dead = frozenset({"dead"})

    response = await world.redeliver(job)

    assert response.status_code == 200
    assert [set(tokens) for tokens, _ in world.push.sent] == [{"alive", "dead"}]
    assert [device.fcm_token for device in await world.deps.devices.all(ALICE)] == ["alive"]


async def test_a_task_that_comes_again_shows_nothing_twice(world: World, job: Mapping[str, str]):
    await world.redeliver(job)
    again = await world.redeliver(job)

    assert again.status_code == 200
    assert len(world.push.sent) == 1
    assert len((await world.inbox())["items"]) == 1


async def test_t16_a_push_whose_answer_was_lost_is_sent_again_with_the_same_tag(
    world: World, job: Mapping[str, str]
):
    world.push.down = True
    await world.add_devices("phone")
    failed = await world.redeliver(job)

    world.push.down = False
    delivered = await world.redeliver(job)

    assert (failed.status_code, delivered.status_code) == (503, 200)
    first, second = (message for _, message in world.push.sent)
    assert first == second


async def test_t16_only_the_devices_that_were_not_reached_are_tried_again(
    world: World, job: Mapping[str, str]
):
    await world.add_devices("phone", "tablet", "old")
    world.push.later, world.push.dead = frozenset({"tablet"}), frozenset({"old"})
    failed = await world.redeliver(job)

    world.push.later = frozenset()
    delivered = await world.redeliver(job)

    assert (failed.status_code, delivered.status_code) == (503, 200)
    assert sorted(world.push.reached) == ["old", "phone", "tablet", "tablet"]
    assert len({message.tag for _, message in world.push.sent}) == 1


async def test_t16_what_no_device_takes_is_a_dead_letter_with_its_reason_and_no_content(
    world: World, job: Mapping[str, str]
):
    await world.add_devices("phone")
    world.push.refused = frozenset({"phone"})

    response = await world.redeliver(job)

    assert response.status_code == 200
    (letter,) = await world.deps.dead_letters.newest()
    assert (letter.target, letter.ids, letter.reason) == (
        "deliver_notification",
        dict(job),
        "push: SenderIdMismatchError",
    )
    assert "Rain" not in str(letter)
    assert (await world.receipt(job["id"])).json()["state"] == "failed"


async def test_t16_a_dead_letter_that_is_sent_again_once_it_works_arrives(
    world: World, job: Mapping[str, str]
):
    await world.add_devices("phone")
    world.push.refused = frozenset({"phone"})
    await world.redeliver(job)

    world.push.refused = frozenset()
    await world.redeliver(job)

    assert (await world.receipt(job["id"])).json()["state"] == "sent"


async def test_t16_where_one_device_is_reached_it_is_sent_and_the_other_a_dead_letter(
    world: World, job: Mapping[str, str]
):
    await world.add_devices("phone", "tablet")
    world.push.refused = frozenset({"tablet"})

    await world.redeliver(job)

    assert (await world.receipt(job["id"])).json()["state"] == "sent"
    assert len(await world.deps.dead_letters.newest()) == 1


async def test_t16_a_push_that_never_gets_through_is_given_up_before_the_queue_does_so(
    world: World,
):
    await world.register()
    await world.add_devices("phone")
    world.push.down = True
    id_ = (await world.post()).headers["X-Notification-Id"]

    statuses = []
    for _ in range(ATTEMPTS + 2):
        statuses += [response.status_code for response in await world.deliver()]
        world.clock.pass_(seconds=60)

    assert statuses == [503] * (ATTEMPTS - 1) + [200]
    assert (await world.receipt(id_)).json()["state"] == "failed"
    (letter,) = await world.deps.dead_letters.newest()
    assert (letter.reason, letter.attempts) == ("push: Unavailable", ATTEMPTS)
    assert len((await world.inbox())["items"]) == 1


async def test_t16_what_was_read_meanwhile_needs_no_push(world: World, job: Mapping[str, str]):
    await world.read(job["id"])

    await world.redeliver(job)

    assert world.push.sent == []


async def test_a_notification_that_is_gone_is_no_error(world: World):
    response = await world.redeliver({"uid": "alice", "id": "gone"})

    assert (response.status_code, world.push.sent) == (200, [])


async def test_a_body_that_is_no_delivery_is_refused(world: World):
    assert (await world.redeliver({"uid": "alice"})).status_code == 422


def notification(text: str = "Rain.", name: str = "Weather", id_: str = "n1") -> Notification:
    return Notification(
        id=NotificationId(id_),
        app_id=AppId("a" * 64),
        title=f"{name} says",
        body=text,
        created_at=datetime(2026, 3, 2, tzinfo=UTC),
        data={
            "id": id_,
            "created_at": "2026-03-02T12:40:00.123456+00:00",
            "sender": "ai",
            "from_integration": "true",
            "type": "text",
            "notification_type": "plugin",
            "plugin_id": "a" * 64,
            "text": f"[{name}]: {text}",
            "navigate_to": "/chat/" + "a" * 64,
        },
    )


def pushed(uid: str, told: Notification) -> PushMessage:
    return push_message(UserId(uid), told.id, title=told.title, body=told.body, data=told.data)


@given(text=st.text(max_size=4000), name=st.text(max_size=400))
def test_every_push_fits_into_4_kb(text: str, name: str):
    message = pushed("u" * 64, notification(text, name, id_="i" * 32))

    assert len(json.dumps(asdict(message), ensure_ascii=False).encode()) <= FCM_LIMIT


@pytest.mark.parametrize("text", ["x" * 4000, '"' * 4000, "\n" * 4000, "€" * 4000, "😀" * 4000])
def test_a_long_push_fits_into_4_kb(text: str):
    message = pushed("u" * 64, notification(text, text, id_="i" * 32))

    assert len(json.dumps(asdict(message), ensure_ascii=False).encode()) <= FCM_LIMIT


def test_a_push_without_a_text_of_its_own_carries_its_body():
    """Notices of our own have no chat message to be made into."""
    message = push_message(UserId("alice"), "off-weather", title="t", body="Why.", data={})

    assert message.data == {"text": "Why."}


def test_the_tag_names_the_notification_and_its_user():
    tags = [
        pushed(uid, notification(id_=id_)).tag
        for uid, id_ in [("alice", "n1"), ("alice", "n1"), ("alice", "n2"), ("bob", "n1")]
    ]

    assert tags[0] == tags[1]
    assert len(set(tags)) == 3
    assert all(len(tag) == 16 and int(tag, 16) >= 0 for tag in tags)


@pytest.mark.parametrize(
    ("text", "max_bytes", "clipped"),
    [
        ("rain", 4, "rain"),
        ("raining", 6, "rai…"),
        ('"""', 6, '"""'),
        ('""""', 7, '""…'),
        ("äöü", 5, "ä…"),
        ("😀😀", 7, "😀…"),
    ],
)
def test_a_clipped_text_shows_that_it_was_cut(text: str, max_bytes: int, clipped: str):
    assert clip(text, max_bytes) == clipped


@given(text=st.text(), max_bytes=st.integers(min_value=3, max_value=100))
def test_a_clipped_text_fits_and_loses_no_more_than_it_must(text: str, max_bytes: int):
    clipped = clip(text, max_bytes)

    size = len(json.dumps(clipped, ensure_ascii=False).encode()) - 2
    assert size <= max_bytes
    assert clipped == text or (clipped[:-1] == text[: len(clipped) - 1] and size > max_bytes - 6)
