"""Stores of webhooks: who hears of a conversation is decided once, a user's own webhooks are kept whole."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from operator import methodcaller

import pytest

from shared.data.account.health import Health
from shared.data.apps.developer_webhooks import DeveloperWebhookStore
from shared.data.apps.webhook_deliveries import WebhookDeliveries
from shared.domain.apps.apple_health import AppleHealth
from shared.domain.apps.webhook import (
    DEVELOPER_WEBHOOK_TYPES,
    OWN_WEBHOOK,
    Announcement,
    DeveloperWebhook,
)
from shared.domain.ids import AppId, ConversationId, UserId
from shared.ports import Documents
from tests.fixtures.processing import START

ALICE, BOB = UserId("alice"), UserId("bob")
TALK = ConversationId("talk")
ANNOUNCEMENT = Announcement(
    id=TALK,
    version=START + timedelta(microseconds=1),
    receivers=(OWN_WEBHOOK, AppId("diary")),
    expires_at=START + timedelta(days=30),
)


@pytest.fixture
def deliveries(any_documents: Documents) -> WebhookDeliveries:
    return WebhookDeliveries(any_documents)


async def test_the_first_announcement_of_a_conversation_stays(deliveries):
    others = [replace(ANNOUNCEMENT, receivers=(AppId(f"app{n}"),)) for n in range(5)]

    first = await deliveries.announce(ALICE, ANNOUNCEMENT)
    later = await asyncio.gather(*(deliveries.announce(ALICE, other) for other in others))

    assert [first, *later] == [ANNOUNCEMENT] * 6
    assert await deliveries.get_announcement(BOB, TALK) is None


async def test_an_announcement_is_queued_once_it_is_marked(deliveries):
    await deliveries.announce(ALICE, ANNOUNCEMENT)

    await deliveries.mark_queued(ALICE, TALK)
    await deliveries.mark_queued(BOB, TALK)  # who was erased, say

    stored = await deliveries.get_announcement(ALICE, TALK)
    assert stored == replace(ANNOUNCEMENT, is_queued=True)


async def test_a_delivery_is_done_for_its_user_alone(deliveries):
    for _ in range(2):
        await deliveries.mark_done(ALICE, "msg_1", START)

    assert [await deliveries.is_done(uid, "msg_1") for uid in (ALICE, BOB)] == [True, False]


async def test_a_change_of_one_webhook_keeps_the_others(any_documents):
    store = DeveloperWebhookStore(any_documents)

    for webhook_type in DEVELOPER_WEBHOOK_TYPES:
        webhook = DeveloperWebhook(url=f"https://example.com/{webhook_type}", enabled=True)
        await store.change(ALICE, methodcaller("put", webhook_type, webhook))
    await store.change(ALICE, lambda all_: all_.with_secret("first"))
    await store.change(ALICE, lambda all_: all_.with_secret("second"))

    webhooks = await store.get(ALICE)
    assert webhooks.signing_secret == "first"
    assert all(webhooks.get(webhook_type).is_on for webhook_type in DEVELOPER_WEBHOOK_TYPES)
    assert (await store.get(BOB)).webhooks == {}


async def test_health_figures_come_back_as_they_were_stored(any_documents):
    figures = AppleHealth(
        numbers={"total_steps": 14600.0},
        records={"workouts": ({"name": "Run", "km": 5.5, "outside": True, "note": None},)},
        synced_at=START,
    )

    await Health(any_documents).put_apple(ALICE, figures)

    assert await Health(any_documents).get_apple(ALICE) == figures
    assert await Health(any_documents).get_apple(BOB) is None
