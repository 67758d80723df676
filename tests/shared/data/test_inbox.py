"""Inbox, on SQLite and on Firestore's emulator."""

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.data.account.inbox import Inbox
from shared.domain.account.notification import Delivery, Notification, NotificationId
from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import AppId, UserId
from shared.ports import Documents

ALICE = UserId("alice")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def inbox(any_documents: Documents) -> Inbox:
    return Inbox(any_documents)


def notification(name: str) -> Notification:
    return Notification(
        id=NotificationId(name), app_id=AppId("weather"), title="t", body="b", created_at=NOON
    )


async def test_only_delivered_notifications_are_listed_newest_first_in_pages(inbox: Inbox):
    await inbox.add(ALICE, notification("n3"))
    for n in (2, 0, 1):
        delivered_at = NOON + timedelta(minutes=n)
        await inbox.add(ALICE, replace(notification(f"n{n}"), delivered_at=delivered_at))

    first = await inbox.list_delivered(ALICE, limit=2)
    second = await inbox.list_delivered(ALICE, limit=2, after=first.next)

    assert [n.id for n in first.items] == ["n2", "n1"]
    assert [n.id for n in second.items] == ["n0"]
    assert second.next is None


async def test_a_stored_notification_is_read_back_unchanged(inbox: Inbox):
    delivery = Delivery(reached=("ios_1",), attempts=2, sent_at=NOON)
    await inbox.add(ALICE, notification("n1"))
    await inbox.record_delivery(ALICE, [notification("n1")], delivery)
    await inbox.mark_read(ALICE, NotificationId("n1"), NOON)

    stored_notification = await inbox.get(ALICE, NotificationId("n1"))

    assert stored_notification == replace(notification("n1"), read_at=NOON, delivery=delivery)
    assert await inbox.get(UserId("bob"), NotificationId("n1")) is None


async def test_marking_a_missing_notification_as_read_raises_not_found(inbox: Inbox):
    with pytest.raises(NotFound, match="Notification not found"):
        await inbox.mark_read(ALICE, NotificationId("n1"), NOON)


@pytest.mark.parametrize(
    "content",
    [
        "x",
        "[" * 5_000,
        '["2026-03-02T10:00:00+00:00"]',
        '["2026-03-02T10:00:00", "n1"]',
        '["0001-01-01T00:00:00+14:00", "n1"]',
        '["2026-03-02T10:00:00+00:00", 7]',
        '["2026-03-02T10:00:00+00:00", "../bob"]',
    ],
)
async def test_a_forged_cursor_is_refused(inbox: Inbox, content: str):
    forged_cursor = base64.urlsafe_b64encode(content.encode()).decode()

    for after in (content, forged_cursor):
        with pytest.raises(Invalid):
            await inbox.list_delivered(ALICE, limit=2, after=after)
