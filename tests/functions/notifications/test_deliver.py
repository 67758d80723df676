"""Delivery of one notification, on first and repeated tasks (T16)."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.notifications.push import (
    MAX_ATTEMPTS,
    MAX_BROWSER_PUSHES,
    build_push_message,
    truncate_json,
)
from shared.domain.account.notification import Notification, NotificationId
from shared.domain.ids import AppId, UserId
from shared.ports import PushMessage
from tests.fixtures.notifications import ALICE, NOW, NotificationsFixture
from tests.log import capture_log

FCM_LIMIT = 4096


@pytest.fixture
async def job(world: NotificationsFixture) -> Mapping[str, str]:
    """Post as Weather to Alice, and return the body of the task."""
    await world.register_app()
    await world.post()
    (job,) = await world.queue.claim(10)
    return job.body


async def test_a_push_goes_to_every_device_and_dead_ones_are_forgotten(
    world: NotificationsFixture, job: Mapping[str, str]
):
    await world.add_devices("alive", "dead")
    world.push.dead_tokens = frozenset({"dead"})

    response = await world.redeliver(job)

    assert response.status_code == 200
    assert [set(tokens) for tokens, _ in world.push.sent_messages] == [{"alive", "dead"}]
    assert [device.fcm_token for device in await world.deps.stores.devices.list_all(ALICE)] == [
        "alive"
    ]


async def test_a_repeated_task_shows_the_notification_once(
    world: NotificationsFixture, job: Mapping[str, str]
):
    await world.redeliver(job)
    second_response = await world.redeliver(job)

    assert second_response.status_code == 200
    assert len(world.push.sent_messages) == 1
    assert len((await world.get_inbox())["items"]) == 1


async def test_a_push_whose_answer_was_lost_is_sent_again_with_the_same_tag_t16(
    world: NotificationsFixture, job: Mapping[str, str]
):
    world.push.is_down = True
    await world.add_devices("phone")
    first_response = await world.redeliver(job)

    world.push.is_down = False
    second_response = await world.redeliver(job)

    assert (first_response.status_code, second_response.status_code) == (503, 200)
    first, second = (message for _, message in world.push.sent_messages)
    assert first == second


async def test_only_the_devices_that_were_not_reached_are_tried_again_t16(
    world: NotificationsFixture, job: Mapping[str, str]
):
    await world.add_devices("phone", "tablet", "old")
    world.push.retryable_tokens, world.push.dead_tokens = frozenset({"tablet"}), frozenset({"old"})
    first_response = await world.redeliver(job)

    world.push.retryable_tokens = frozenset()
    second_response = await world.redeliver(job)

    assert (first_response.status_code, second_response.status_code) == (503, 200)
    assert sorted(world.push.reached_tokens) == ["old", "phone", "tablet", "tablet"]
    assert len({message.tag for _, message in world.push.sent_messages}) == 1


async def test_a_browser_is_asked_so_often_an_hour_and_a_phone_always(world: NotificationsFixture):
    browser = '{"endpoint": "push.example"}'
    await world.add_devices("phone", browser)
    jobs = []
    for number in range(MAX_BROWSER_PUSHES // 10 + 1):
        await world.register_app(AppId(f"app{number}"))
        for _ in range(10):
            await world.post(aid=f"app{number}")
        jobs += [job.body for job in await world.queue.claim(10)]

    for job in jobs:
        assert (await world.redeliver(job)).status_code == 200
        await world.redeliver(job)  # a repeat counts once
    assert world.push.reached_tokens.count(browser) == MAX_BROWSER_PUSHES
    assert world.push.reached_tokens.count("phone") == len(jobs) == MAX_BROWSER_PUSHES + 10

    world.clock.advance(hours=1)
    await world.post(aid="app0")
    await world.deliver()
    assert world.push.reached_tokens.count(browser) == MAX_BROWSER_PUSHES + 1


async def test_a_push_that_every_device_refuses_becomes_a_dead_letter_without_content_t16(
    world: NotificationsFixture, job: Mapping[str, str]
):
    await world.add_devices("phone")
    world.push.refused_tokens = frozenset({"phone"})

    with capture_log() as log:
        response = await world.redeliver(job)

    assert response.status_code == 200
    assert [line["target"] for line in log.lines if line["message"] == "dead_letter"] == [
        "deliver_notification"
    ]
    (letter,) = await world.deps.stores.dead_letters.list_newest()
    assert (letter.target, letter.ids, letter.reason) == (
        "deliver_notification",
        dict(job),
        "push: SenderIdMismatchError",
    )
    assert "Rain" not in str(letter)
    assert (await world.get_receipt(job["id"])).json()["state"] == "failed"


async def test_a_retried_dead_letter_is_delivered_once_the_device_works_t16(
    world: NotificationsFixture, job: Mapping[str, str]
):
    await world.add_devices("phone")
    world.push.refused_tokens = frozenset({"phone"})
    await world.redeliver(job)

    world.push.refused_tokens = frozenset()
    await world.redeliver(job)

    assert (await world.get_receipt(job["id"])).json()["state"] == "sent"


async def test_a_push_that_reaches_one_of_two_devices_is_sent_and_leaves_a_dead_letter_t16(
    world: NotificationsFixture, job: Mapping[str, str]
):
    await world.add_devices("phone", "tablet")
    world.push.refused_tokens = frozenset({"tablet"})

    await world.redeliver(job)

    assert (await world.get_receipt(job["id"])).json()["state"] == "sent"
    assert len(await world.deps.stores.dead_letters.list_newest()) == 1


async def test_a_push_that_always_fails_is_given_up_before_the_queue_gives_up_t16(
    world: NotificationsFixture,
):
    await world.register_app()
    await world.add_devices("phone")
    world.push.is_down = True
    id_ = (await world.post()).headers["X-Notification-Id"]

    statuses = []
    for _ in range(MAX_ATTEMPTS + 2):
        statuses += [response.status_code for response in await world.deliver()]
        world.clock.advance(seconds=60)

    assert statuses == [503] * (MAX_ATTEMPTS - 1) + [200]
    assert (await world.get_receipt(id_)).json()["state"] == "failed"
    (letter,) = await world.deps.stores.dead_letters.list_newest()
    assert (letter.reason, letter.attempts) == ("push: Unavailable", MAX_ATTEMPTS)
    assert len((await world.get_inbox())["items"]) == 1


async def test_a_notification_that_was_read_meanwhile_is_not_pushed_t16(
    world: NotificationsFixture, job: Mapping[str, str]
):
    await world.mark_read(job["id"])

    await world.redeliver(job)

    assert world.push.sent_messages == []


async def test_a_missing_notification_is_no_error(world: NotificationsFixture):
    response = await world.redeliver({"uid": "alice", "id": "gone"})

    assert (response.status_code, world.push.sent_messages) == (200, [])


async def test_an_invalid_delivery_body_is_rejected(world: NotificationsFixture):
    assert (await world.redeliver({"uid": "alice"})).status_code == 422


def build_notification(text: str = "Rain.", name: str = "Weather", id_: str = "n1") -> Notification:
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


def build_push(uid: str, notification: Notification) -> PushMessage:
    return build_push_message(
        UserId(uid),
        notification.id,
        title=notification.title,
        body=notification.body,
        data=notification.data,
    )


@given(text=st.text(max_size=4000), name=st.text(max_size=400))
def test_every_push_fits_into_4_kb(text: str, name: str):
    message = build_push("u" * 64, build_notification(text, name, id_="i" * 32))

    assert len(json.dumps(asdict(message), ensure_ascii=False).encode()) <= FCM_LIMIT


@pytest.mark.parametrize("text", ["x" * 4000, '"' * 4000, "\n" * 4000, "€" * 4000, "😀" * 4000])
def test_a_long_push_fits_into_4_kb(text: str):
    message = build_push("u" * 64, build_notification(text, text, id_="i" * 32))

    assert len(json.dumps(asdict(message), ensure_ascii=False).encode()) <= FCM_LIMIT


def test_a_push_without_a_text_of_its_own_carries_its_body():
    """Our own notices carry no data for a chat message."""
    message = build_push_message(UserId("alice"), "off-weather", title="t", body="Why.", data={})

    assert message.data == {"text": "Why."}


def test_the_tag_names_the_notification_and_its_user():
    tags = [
        build_push(uid, build_notification(id_=id_)).tag
        for uid, id_ in [("alice", "n1"), ("alice", "n1"), ("alice", "n2"), ("bob", "n1")]
    ]

    assert tags[0] == tags[1]
    assert len(set(tags)) == 3
    assert all(len(tag) == 16 and int(tag, 16) >= 0 for tag in tags)


@pytest.mark.parametrize(
    ("text", "max_bytes", "truncated"),
    [
        ("rain", 4, "rain"),
        ("raining", 6, "rai…"),
        ('"""', 6, '"""'),
        ('""""', 7, '""…'),
        ("äöü", 5, "ä…"),
        ("😀😀", 7, "😀…"),
    ],
)
def test_a_truncated_text_ends_with_an_ellipsis(text: str, max_bytes: int, truncated: str):
    assert truncate_json(text, max_bytes) == truncated


@given(text=st.text(), max_bytes=st.integers(min_value=3, max_value=100))
def test_a_truncated_text_fits_and_is_as_long_as_possible(text: str, max_bytes: int):
    truncated = truncate_json(text, max_bytes)

    size = len(json.dumps(truncated, ensure_ascii=False).encode()) - 2
    assert size <= max_bytes
    assert truncated == text or (
        truncated[:-1] == text[: len(truncated) - 1] and size > max_bytes - 6
    )


async def test_data_for_the_app_is_pushed_in_quiet_hours_and_stands_in_no_inbox(
    world: NotificationsFixture,
):
    await world.add_devices("phone")
    await world.change_preferences(quiet_hours={"from": "00:00", "to": "23:59"}, enabled=False)
    notification = Notification(
        id=NotificationId("merge-1"),
        app_id=AppId("keepsake"),
        title="",
        body="",
        created_at=NOW,
        data={"type": "merge_completed"},
    )
    await world.deps.stores.inbox.add(ALICE, notification)

    for _ in range(2):
        await world.redeliver({"uid": ALICE, "id": "merge-1"})

    assert [message.data for _, message in world.push.sent_messages] == [
        {"type": "merge_completed"}
    ]
    assert (await world.get_inbox())["items"] == []
