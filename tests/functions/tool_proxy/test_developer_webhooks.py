"""A user's own webhooks: their addresses and switches, and what is sent there (R4)."""

import json
from dataclasses import replace
from typing import Any

import pytest
from standardwebhooks import Webhook

from functions.tool_proxy.webhooks.delivery import MAX_ATTEMPTS, attempt_delivery
from shared.domain.apps.webhook import (
    DEVELOPER_WEBHOOK_TYPES,
    OWN_WEBHOOK,
    DeveloperWebhook,
    WebhookDelivery,
)
from shared.domain.conversations.daily_summary import DailySummary
from shared.library.webhook_tasks import queue_day_summary, queue_live_words
from tests.fixtures.tool_proxy import ALICE
from tests.fixtures.webhooks import TALK, WebhookFixture

PATH = "/v1/users/developer/webhook"
DAY = "2026-03-02"


async def ask(
    fixture: WebhookFixture, method: str, path: str, *, uid: str = ALICE, **request: Any
) -> Any:
    response = await fixture.world.request(method, path, uid=uid, **request)
    assert response.status_code == 200, response.text
    return response.json()


async def switch_on(fixture: WebhookFixture, webhook_type: str) -> None:
    await ask(fixture, "POST", f"{PATH}/{webhook_type}", json={"url": fixture.hook.url})
    await ask(fixture, "POST", f"{PATH}/{webhook_type}/enable")


async def deliver_due(fixture: WebhookFixture) -> None:
    for task in fixture.list_due():
        await attempt_delivery(fixture.world.deps, WebhookDelivery(**task))


@pytest.fixture
async def own(fixture: WebhookFixture) -> WebhookFixture:
    """The same server as Alice's own, without the diary."""
    await fixture.world.deps.stores.installed_apps.remove(ALICE, fixture.delivery.app_id)
    return fixture


@pytest.mark.parametrize("webhook_type", DEVELOPER_WEBHOOK_TYPES)
async def test_addresses_and_switches_are_kept_apart_r4(own, webhook_type):
    url = "https://example.com/hook" + (",5" if webhook_type == "audio_bytes" else "")

    await ask(own, "POST", f"{PATH}/{webhook_type}", json={"url": url})
    await ask(own, "POST", f"{PATH}/{webhook_type}/enable")

    assert (await ask(own, "GET", f"{PATH}/{webhook_type}"))["url"] == url
    status = await ask(own, "GET", f"{PATH}s/status")
    assert status == {name: name == webhook_type for name in DEVELOPER_WEBHOOK_TYPES}
    await ask(own, "POST", f"{PATH}/{webhook_type}/disable")
    assert not any((await ask(own, "GET", f"{PATH}s/status")).values())


@pytest.mark.parametrize("webhook_type", DEVELOPER_WEBHOOK_TYPES)
@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "https://localhost/hook",
        "https://10.0.0.1/hook",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/hook",
        "https://metadata.google.internal/",
        "https://anna:secret@example.com/hook",
        "https://example.com:22/hook",
        "https://example.com/hook#here",
        "https://",
        "javascript:alert(1)",
    ],
)
async def test_an_address_that_would_never_be_called_is_refused_when_it_is_entered_r4(
    own, url, webhook_type
):
    path = f"{PATH}/{webhook_type}"
    refused = await own.world.request("POST", path, uid=ALICE, json={"url": url})

    assert refused.status_code == 422
    assert (await ask(own, "GET", path))["url"] == ""


@pytest.mark.parametrize("empty", ["", ",", "  "])
async def test_an_empty_address_switches_a_webhook_off_r4(own, empty):
    await switch_on(own, "memory_created")

    await ask(own, "POST", f"{PATH}/memory_created", json={"url": empty})
    await own.announce()

    assert not (await ask(own, "GET", f"{PATH}s/status"))["memory_created"]
    assert own.list_due() == []


async def test_a_new_conversation_is_sent_once_signed_as_the_webhook_says_r4(own):
    await switch_on(own, "memory_created")
    secret = (await ask(own, "GET", f"{PATH}/memory_created"))["signing_secret"]

    await own.announce()
    await own.announce()
    await deliver_due(own)
    await deliver_due(own)

    [(headers, query, body)] = own.hook.received
    payload = Webhook(secret).verify(body, headers)
    assert query == f"uid={ALICE}"
    assert (payload["trigger"], payload["id"]) == ("memory_created", TALK)
    assert payload["transcript_segments"][0]["speaker"] == "SPEAKER_00"


async def test_a_daily_summary_is_sent_once_r4(own):
    await own.world.deps.stores.daily_summaries.put(
        ALICE,
        own.world.clock.now().date().replace(2026, 3, 2),
        DailySummary(
            id=DAY, created_at=own.world.clock.now(), headline="A launch", overview="It moved."
        ),
    )
    await switch_on(own, "day_summary")
    secret = (await ask(own, "GET", f"{PATH}/day_summary"))["signing_secret"]

    for _ in range(2):
        await queue_day_summary(own.world.deps.stores, own.world.tasks, ALICE, DAY)
        await deliver_due(own)

    [(headers, query, body)] = own.hook.received
    payload = Webhook(secret).verify(body, headers)
    assert query == f"uid={ALICE}"
    assert payload == {
        "trigger": "day_summary",
        "uid": ALICE,
        "date": DAY,
        "created_at": own.world.clock.now().isoformat(),
        "summary": "A launch\n\nIt moved.",
    }


async def test_live_words_are_sent_once_and_none_once_they_are_switched_off_l3(own):
    await own.say_live("Hello.", "Bye.")
    await switch_on(own, "realtime_transcript")
    await queue_live_words(own.world.tasks, ALICE, [OWN_WEBHOOK], TALK, "said-0")
    await deliver_due(own)
    await deliver_due(own)
    await ask(own, "POST", f"{PATH}/realtime_transcript/disable")
    await queue_live_words(own.world.tasks, ALICE, [OWN_WEBHOOK], TALK, "said-1")
    await deliver_due(own)

    [(_, _, body)] = own.hook.received
    payload = json.loads(body)
    assert payload["session_id"] == ALICE
    assert [segment["text"] for segment in payload["segments"]] == ["Hello."]


async def test_nothing_is_queued_or_sent_that_is_switched_off_r4(own):
    await switch_on(own, "memory_created")
    await own.announce()
    await ask(own, "POST", f"{PATH}/memory_created/disable")

    await deliver_due(own)
    await queue_day_summary(own.world.deps.stores, own.world.tasks, ALICE, DAY)

    assert len(own.list_due()) == 1
    assert own.hook.received == []


async def test_failures_are_retried_and_410_switches_off_r4(own):
    await switch_on(own, "memory_created")
    own.hook.statuses = [500, 410]
    await own.announce()
    [task] = own.list_due()
    delivery = WebhookDelivery(**task)

    await attempt_delivery(own.world.deps, delivery)
    await attempt_delivery(own.world.deps, replace(delivery, attempt=2))
    await attempt_delivery(own.world.deps, replace(delivery, attempt=3))

    assert [body["attempt"] for body in own.list_due()] == [1, 2]
    assert len(own.hook.received) == 2
    webhook = await ask(own, "GET", f"{PATH}/memory_created")
    assert webhook["url"] == own.hook.url
    assert not (await ask(own, "GET", f"{PATH}s/status"))["memory_created"]


async def test_a_delivery_is_given_up_after_the_last_attempt_r4(own):
    await switch_on(own, "memory_created")
    own.hook.statuses = [500]
    delivery = replace(own.delivery, app_id=OWN_WEBHOOK, trigger="memory_created")

    await attempt_delivery(own.world.deps, replace(delivery, attempt=MAX_ATTEMPTS))

    assert own.list_due() == []


async def test_an_answer_of_an_own_server_says_nothing_r4(own):
    await switch_on(own, "memory_created")
    await own.announce()

    await deliver_due(own)

    inbox = await own.world.deps.stores.inbox.list_delivered(ALICE, limit=9)
    assert (len(own.hook.received), list(inbox.items)) == (1, [])


@pytest.mark.parametrize("url", ["https://169.254.169.254/hook", "https://localhost/hook"])
async def test_egress_rules_apply_to_own_webhooks_that_were_stored_before_r4(own, url):
    await switch_on(own, "memory_created")
    stored = DeveloperWebhook(url=url, enabled=True)
    await own.world.deps.stores.developer_webhooks.change(
        ALICE, lambda webhooks: webhooks.put("memory_created", stored)
    )
    await own.announce()

    await deliver_due(own)

    assert own.hook.received == []
    assert [body["attempt"] for body in own.list_due()] == [1, 2]


@pytest.mark.parametrize("path", ["", "/enable", "/disable"])
async def test_an_unknown_webhook_is_not_found_r4(own, path):
    response = await own.world.request(
        "POST", f"{PATH}/nonsense{path}", uid=ALICE, json={"url": "https://example.com"}
    )

    assert (response.status_code, response.json()["detail"]) == (404, "There is no such webhook")


@pytest.mark.parametrize("url", ["ftp://example.com", "nonsense", "javascript:alert(1)"])
async def test_an_address_that_cannot_be_called_is_refused_r4(own, url):
    response = await own.world.request(
        "POST", f"{PATH}/memory_created", uid=ALICE, json={"url": url}
    )

    assert response.status_code == 422
    assert isinstance(response.json()["detail"], str)


async def test_webhooks_are_private_to_their_user_r4(own):
    await switch_on(own, "memory_created")

    webhook = await ask(own, "GET", f"{PATH}/memory_created", uid="bob")

    assert webhook == {"url": "", "signing_secret": None}
    document = await own.world.documents.get(f"users/{ALICE}/developer_webhooks/all")
    assert "whsec_" not in str(document)
