"""Reminders of tasks: phones get a task as it is when the message is sent, and show nothing."""

import json
from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.cloud.fcm_push import _to_fcm_message
from shared.domain.ids import ActionItemId
from shared.domain.tasks.action_item import ActionItem
from shared.ports import PushMessage
from tests.fixtures.notifications import ALICE, NOW, NotificationsFixture

TASK = ActionItem(
    id=ActionItemId("a1"),
    description="Buy bread",
    created_at=NOW,
    updated_at=NOW,
    due_at=NOW + timedelta(days=1),
)
BODY = {"uid": ALICE, "id": "a1", "kind": "action_item_update"}
DELETED = {"type": "action_item_delete", "action_item_id": "a1"}


async def remind(world: NotificationsFixture, **changes: Any) -> Any:
    await world.add_devices("phone")
    return await world.redeliver({**BODY, **changes})


def get_sent(world: NotificationsFixture) -> PushMessage:
    ((_, message),) = world.push.sent_messages
    return message


@pytest.mark.parametrize(
    ("kind", "type_"),
    [
        ("action_item_reminder", "action_item_reminder"),
        ("action_item_update", "action_item_update"),
        ("action_item_delete", "action_item_update"),
    ],
)
async def test_phones_get_a_task_as_it_is_now(world, kind, type_):
    await world.deps.stores.action_items.add(ALICE, TASK)

    response = await remind(world, kind=kind)

    assert response.status_code == 200
    assert get_sent(world).data == {
        "type": type_,
        "action_item_id": "a1",
        "description": "Buy bread",
        "due_at": "2026-03-03T12:40:00+00:00",
    }


@pytest.mark.parametrize("change", [{"completed": True}, {"due_at": None}, None])
async def test_a_task_that_is_gone_or_done_or_has_no_day_is_taken_away(world, change):
    if change is not None:
        await world.deps.stores.action_items.add(ALICE, TASK.change(change, NOW))

    await remind(world)

    assert get_sent(world).data == DELETED


async def test_no_device_shows_a_reminder_as_text(world):
    await world.deps.stores.action_items.add(ALICE, TASK)

    await remind(world)

    message = get_sent(world)
    assert (message.title, message.body) == ("", "")
    sent = json.loads(str(_to_fcm_message("token", message)))
    assert "notification" not in sent
    assert sent["data"]["type"] == "action_item_update"
    assert sent["apns"]["headers"]["apns-push-type"] == "background"


async def test_a_device_that_cannot_be_reached_is_tried_again(world):
    world.push.retryable_tokens = frozenset({"phone"})
    first = await remind(world)

    world.push.retryable_tokens = frozenset()
    second = await remind(world)

    assert (first.status_code, second.status_code) == (503, 200)
    (_, before), (_, after) = world.push.sent_messages
    assert before == after


async def test_a_reminder_is_not_in_the_inbox(world):
    await world.deps.stores.action_items.add(ALICE, TASK)

    await remind(world)

    assert (await world.get_inbox())["items"] == []
