"""Announcements: an app hears of a conversation once, and of changes by a trigger of their own (R4)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from functions.tool_proxy.webhooks.delivery import attempt_delivery
from functions.tool_proxy.webhooks.queueing import queue_deliveries
from shared.domain.apps.app import ExternalIntegration, InstalledApp
from shared.domain.apps.webhook import ANNOUNCEMENT_WINDOW, WebhookDelivery
from shared.domain.errors import Unavailable
from shared.domain.ids import AppId
from tests.fault_injection import FaultyPort, lose_response, raise_unavailable, succeed
from tests.fixtures.tool_proxy import ALICE
from tests.fixtures.webhooks import DIARY, TALK, WebhookFixture

Sent = list[tuple[str, str]]


async def process_again(fixture: WebhookFixture, title: str = "Launch") -> None:
    """Store the conversation as processing leaves it after a change, a minute later."""
    fixture.world.clock.advance(seconds=60)
    conversation = fixture.conversation
    structured = replace(conversation.structured, title=title)
    changed = replace(conversation, structured=structured, processed_at=fixture.world.clock.now())
    await fixture.write(changed)


async def deliver_due(fixture: WebhookFixture) -> None:
    """Play every task that was ever created: the queue may deliver each twice."""
    for task in fixture.list_due():
        await attempt_delivery(fixture.world.deps, WebhookDelivery(**task))


def list_triggers(fixture: WebhookFixture) -> Sent:
    return [(task["app_id"], task["trigger"]) for task in fixture.list_due()]


async def test_a_conversation_is_announced_once_whatever_happens_to_it_later_r4(fixture):
    await fixture.announce()
    await deliver_due(fixture)

    for title in ("Renamed", "Renamed again"):
        await process_again(fixture, title)
        await fixture.announce()
        await deliver_due(fixture)
    await deliver_due(fixture)

    assert list_triggers(fixture) == [(DIARY, "memory_creation")]
    assert len(fixture.hook.received) == 1


async def test_changes_have_a_trigger_of_their_own_r4(fixture):
    await fixture.integrate(triggers_on="memory_creation, conversation_updated")
    await fixture.announce()
    await fixture.announce()
    created = list_triggers(fixture)
    await process_again(fixture)
    await fixture.announce()
    await fixture.announce()
    await process_again(fixture)

    await fixture.announce()

    assert created == [(DIARY, "memory_creation")]
    assert list_triggers(fixture)[1:] == [(DIARY, "conversation_updated")] * 2


async def test_only_the_latest_version_of_a_change_is_sent_r4(fixture):
    await fixture.integrate(triggers_on="conversation_updated")
    await fixture.announce()
    for _ in range(2):
        await process_again(fixture)
        await fixture.announce()

    await deliver_due(fixture)

    assert len(fixture.list_due()) == 2
    [(_, _, body)] = fixture.hook.received
    assert b'"trigger": "conversation_updated"' in body


async def test_a_change_before_the_first_attempt_is_part_of_the_announcement_r4(fixture):
    await fixture.announce()
    await process_again(fixture, "Renamed")

    await deliver_due(fixture)

    [(_, _, body)] = fixture.hook.received
    assert b'"title": "Renamed"' in body


async def test_what_an_app_was_not_there_for_is_not_announced_to_it_r4(fixture):
    fixture.world.clock.advance(seconds=1)
    diary = await fixture.world.deps.stores.apps.get(DIARY)
    installation = InstalledApp.of(diary, fixture.world.clock.now())
    await fixture.world.deps.stores.installed_apps.add(ALICE, installation)

    assert await fixture.announce() == []


async def test_a_trigger_that_is_added_later_does_not_announce_what_was_there_r4(fixture):
    """Of an app's own developer, too, who need not consent to what it asks for."""
    await fixture.change(owner=ALICE, external_integration=ExternalIntegration())
    await fixture.announce()
    await fixture.integrate(triggers_on="memory_creation", webhook_url=fixture.hook.url)

    await process_again(fixture)

    assert await fixture.announce() == []


async def test_old_conversations_are_not_announced_r4(fixture):
    await fixture.write(replace(fixture.conversation, kept_at=None))
    tasks_of_untimed = await fixture.announce()
    await fixture.write(fixture.conversation)
    fixture.world.clock.advance(seconds=ANNOUNCEMENT_WINDOW.total_seconds())

    assert (tasks_of_untimed, await fixture.announce()) == ([], [])


async def test_a_discarded_conversation_is_announced_when_it_is_kept_r4(fixture):
    await fixture.write(replace(fixture.conversation, discarded=True, kept_at=None))
    tasks_of_discarded = await fixture.announce()
    await fixture.write(fixture.conversation)

    assert tasks_of_discarded == []
    assert len(await fixture.announce()) == 1


@pytest.mark.parametrize("fault", [raise_unavailable, lose_response])
async def test_an_interrupted_announcement_is_completed_by_the_redelivered_event_r4(fixture, fault):
    journal = replace(await fixture.world.deps.stores.apps.get(DIARY), id=AppId("02JOURNAL"))
    await fixture.world.deps.stores.apps.create(journal)
    installation = InstalledApp.of(
        journal, fixture.conversation.kept_at or fixture.world.clock.now()
    )
    await fixture.world.deps.stores.installed_apps.add(ALICE, installation)
    tasks = FaultyPort(fixture.world.tasks, create=[succeed, fault])

    with pytest.raises(Unavailable):
        await queue_deliveries(replace(fixture.world.deps, tasks=tasks), ALICE, TALK)
    await fixture.announce()
    await deliver_due(fixture)
    await deliver_due(fixture)

    assert [app_id for app_id, _ in list_triggers(fixture)] == [DIARY, journal.id]
    assert len(fixture.hook.received) == 2


async def test_a_delivery_that_is_done_is_not_made_again_r4(fixture):
    await attempt_delivery(fixture.world.deps, fixture.delivery)
    fixture.world.clock.advance(seconds=timedelta(days=1).total_seconds())

    await attempt_delivery(fixture.world.deps, fixture.delivery)

    assert len(fixture.hook.received) == 1
