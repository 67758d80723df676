"""Receipts: the app that posted a notification, and no other, reads its state (T16)."""

import pytest

from shared.domain.ids import AppId
from tests.fixtures.notifications import NOW, NotificationsFixture

STAMP = NOW.isoformat().replace("+00:00", "Z")


async def test_a_receipt_follows_the_notification_t16(world: NotificationsFixture):
    await world.register_app()
    notification_id = (await world.post()).headers["X-Notification-Id"]

    accepted_receipt = (await world.get_receipt(notification_id)).json()
    await world.deliver()
    sent_receipt = (await world.get_receipt(notification_id)).json()
    world.clock.advance(seconds=60)
    await world.mark_read(notification_id)
    read_receipt = (await world.get_receipt(notification_id)).json()

    assert accepted_receipt == {
        "id": notification_id,
        "state": "accepted",
        "accepted_at": STAMP,
        "sent_at": None,
        "failed_at": None,
        "read_at": None,
    }
    assert sent_receipt == {**accepted_receipt, "state": "sent", "sent_at": STAMP}
    assert read_receipt == {**sent_receipt, "state": "read", "read_at": "2026-03-02T12:41:00Z"}


async def test_a_chat_only_notification_counts_as_sent_once_stored_t16(world: NotificationsFixture):
    await world.register_app(chat_messages_enabled=True)
    notification_id = (await world.post()).headers["X-Notification-Id"]

    assert (await world.get_receipt(notification_id)).json()["state"] == "sent"


@pytest.mark.parametrize(
    ("changes", "status", "detail"),
    [
        ({"aid": ""}, 400, "aid (app id) is required"),
        ({"uid": ""}, 400, "uid is required"),
        ({"key": "sk_wrong"}, 403, "Invalid API key"),
        ({"uid": "bob"}, 403, "User does not have this app installed"),
        ({"aid": "news"}, 404, "Notification not found"),
    ],
)
async def test_a_receipt_is_for_the_app_that_posted_it_t16(
    world: NotificationsFixture, changes: dict[str, str], status: int, detail: str
):
    await world.register_app()
    await world.register_app(AppId("news"), name="News")
    notification_id = (await world.post()).headers["X-Notification-Id"]

    response = await world.get_receipt(notification_id, **changes)

    assert (response.status_code, response.json()["detail"]) == (status, detail)


@pytest.mark.parametrize("name", ["unknown", "__x__", "a b"])
async def test_a_receipt_for_an_unknown_notification_is_not_found(
    world: NotificationsFixture, name: str
):
    await world.register_app()

    assert (await world.get_receipt(name)).status_code == 404
