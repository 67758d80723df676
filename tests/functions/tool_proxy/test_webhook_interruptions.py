"""Interruptions of webhooks: a crash at any call loses nothing and announces under one id (R4)."""

from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest

from functions.tool_proxy.deps import DeliveryDeps
from functions.tool_proxy.webhooks.delivery import attempt_delivery
from functions.tool_proxy.webhooks.queueing import queue_deliveries
from shared.data.stores import Stores
from shared.domain.apps.webhook import WebhookDelivery
from shared.domain.ids import ConversationId
from tests.fault_injection import Crash, FaultInjector, WatchedPort
from tests.fixtures.tool_proxy import ALICE
from tests.fixtures.webhooks import DIARY, WebhookFixture

MAX_CALLS = 100


def watch(deps: DeliveryDeps, injector: FaultInjector) -> DeliveryDeps:
    """Put the injector between the webhooks and everything that they call."""
    return replace(
        deps,
        stores=Stores(WatchedPort(deps.stores.documents, injector)),
        tasks=WatchedPort(deps.tasks, injector),
        egress=WatchedPort(deps.egress, injector),
    )


async def announce_and_deliver(
    fixture: WebhookFixture, deps: DeliveryDeps, conversation_id: ConversationId
) -> None:
    """Deliver the event, then every task that it led to."""
    await queue_deliveries(deps, ALICE, conversation_id)
    for task in fixture.list_due():
        if task["subject_id"] == conversation_id:
            await attempt_delivery(deps, WebhookDelivery(**task))


@pytest.mark.parametrize("fails_after_effect", [False, True], ids=["before", "after"])
async def test_a_crash_at_any_call_leads_to_one_row_and_one_message_r4(fixture, fails_after_effect):
    """The app keeps a row for each id: a repeat has the id of what it repeats."""
    deps = fixture.world.deps
    for fail_at_call in count(1):
        assert fail_at_call < MAX_CALLS
        fixture.world.clock.advance(hours=1)  # another hour has other slots
        fixture.hook.received.clear()
        conversation_id = await fixture.keep_another()
        injector = FaultInjector(fail_at_call=fail_at_call, fails_after_effect=fails_after_effect)
        with suppress(Crash):
            await announce_and_deliver(fixture, watch(deps, injector), conversation_id)

        for _ in range(2):
            await announce_and_deliver(fixture, deps, conversation_id)

        rows = {headers["webhook-id"] for headers, _, _ in fixture.hook.received}
        messages = await deps.stores.messages.list_newest(ALICE, DIARY, limit=100)
        linked = [message for message in messages if message.memories_id == (conversation_id,)]
        pushes = [
            task
            for task in fixture.world.tasks.created
            if task.target == "deliver_notification" and task.body["id"] == linked[0].id
        ]
        assert (len(rows), len(linked), len(pushes)) == (1, 1, 1), fail_at_call
        assert len(fixture.hook.received) <= 2
        if not injector.failure_count:
            break
