"""Webhook delivery: subscriptions, payload, signatures, retries and switch-off (T18)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient, Response
from standardwebhooks import Webhook, WebhookVerificationError

from functions.tool_proxy.deps import DeliveryDeps
from functions.tool_proxy.webhooks.delivery import (
    MAX_ATTEMPTS,
    RETRY_DELAYS,
    attempt_delivery,
)
from functions.tool_proxy.webhooks.webhook_routes import DELIVERY_ROUTES, QUEUE_ROUTES
from shared.adapters.guarded_egress import GuardedEgress
from shared.data.conversations.conversations import conversation_path
from shared.data.store.codec import dump
from shared.domain.apps.app import (
    AppCall,
    CallKind,
    Deactivation,
    ExternalIntegration,
    InstalledApp,
    RetiredSecret,
)
from shared.domain.conversations.conversation import Speaker
from shared.domain.errors import Unavailable
from shared.domain.ids import AppId, PersonId, UserId
from shared.domain.store.documents import Delete
from shared.edge.declare.routes import Route
from shared.edge.serve.http import build_application
from shared.library.webhook_tasks import build_delivery_id
from tests.fakes import replace_stores
from tests.fault_injection import FaultyPort, lose_response, raise_timed_out, raise_unavailable
from tests.fixtures.callers import build_service_headers
from tests.fixtures.tool_proxy import ALICE, replace_egress
from tests.fixtures.webhooks import DIARY, SECRET, TALK, WebhookFixture

OLD_SECRET = "whsec_" + "b2xkb2xk" * 5


async def test_a_subscribed_app_gets_one_task_when_the_event_is_redelivered_t18(fixture):
    await fixture.announce()

    [task] = await fixture.announce()

    assert task == {**dump(fixture.delivery)}


@pytest.mark.parametrize(
    "changes",
    [
        {"triggers_on": None},
        {"triggers_on": "transcript_processed"},
        {"webhook_url": None},
        {"webhook_url": ""},
    ],
)
async def test_an_app_without_trigger_or_webhook_url_gets_no_delivery_t18(fixture, changes):
    await fixture.integrate(**changes)

    assert await fixture.announce() == []


async def test_a_disabled_app_gets_no_delivery_t18(fixture):
    await fixture.change(switched_off=Deactivation(at=fixture.world.clock.now(), reason="down"))

    assert await fixture.announce() == []


async def test_an_app_that_became_private_gets_no_deliveries_of_other_users_t18(fixture):
    await fixture.change(private=True)

    assert await fixture.announce() == []


async def test_conversations_of_users_without_the_app_are_not_delivered_t18(fixture):
    assert await fixture.announce(UserId("bob")) == []


async def test_a_delivery_names_the_user_by_the_id_that_the_app_knows_t18(fixture):
    installation = await fixture.world.deps.stores.installed_apps.get(ALICE, DIARY)
    await fixture.world.deps.stores.installed_apps.add(
        ALICE, replace(installation, pairwise_id="u_42")
    )

    await attempt_delivery(fixture.world.deps, fixture.delivery)

    [(_, query, body)] = fixture.hook.received
    assert query == "uid=u_42"
    assert ALICE.encode() not in body


async def test_a_webhook_on_this_machine_is_called_where_its_developer_allowed_it_t21(fixture):
    origin = fixture.hook.url.removesuffix("/hook")
    fixture.world.deps = replace_egress(fixture.world.deps, GuardedEgress(allows_local=True))

    await attempt_delivery(fixture.world.deps, fixture.delivery)
    await fixture.change(local_origins=(origin,))
    await attempt_delivery(fixture.world.deps, fixture.delivery)

    assert len(fixture.hook.received) == 1
    assert await fixture.read_log() == [
        (True, "The address must start with https://."),
        (False, None),
    ]


async def test_a_delivery_is_signed_and_has_the_payload_of_the_original_product_t18(fixture):
    await attempt_delivery(fixture.world.deps, fixture.delivery)

    [(headers, query, body)] = fixture.hook.received
    payload = Webhook(SECRET).verify(body, headers)
    assert query == "uid=alice"
    assert headers["webhook-id"] == build_delivery_id(fixture.delivery)
    assert headers["content-type"] == "application/json"
    assert payload["id"] == TALK
    assert payload["created_at"] == fixture.conversation.created_at.isoformat()
    assert payload["structured"]["title"] == "Launch"
    assert payload["transcript_segments"][0] == {
        "id": "segment-0",
        "text": "The launch moved. 🚀",
        "speaker": "SPEAKER_00",
        "speaker_id": 0,
        "speaker_name": "Ann",
        "is_user": False,
        "person_id": None,
        "start": 0.0,
        "end": 2.0,
        "translations": [],
    }
    assert (payload["status"], payload["discarded"], payload["plugins_results"]) == (
        "completed",
        False,
        [],
    )
    assert await fixture.read_log() == [(False, None)]


async def test_deliveries_are_signed_with_both_secrets_during_a_rotation_t18(fixture):
    until = fixture.world.clock.now() + timedelta(hours=1)
    await fixture.change(retired_secret=RetiredSecret(secret=OLD_SECRET, until=until))
    await attempt_delivery(fixture.world.deps, fixture.delivery)

    [(headers, _, body)] = fixture.hook.received

    assert Webhook(SECRET).verify(body, headers)["id"] == TALK
    assert Webhook(OLD_SECRET).verify(body, headers)["id"] == TALK
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_" + "b3RoZXJz" * 5).verify(body, headers)


async def test_the_query_of_a_webhook_url_is_kept_t18(fixture):
    await fixture.integrate(webhook_url=f"{fixture.hook.url}?token=a%20b")

    await attempt_delivery(fixture.world.deps, fixture.delivery)

    assert fixture.hook.received[0][1] == "token=a%20b&uid=alice"


async def test_every_attempt_carries_the_same_id_and_body_t18(fixture):
    fixture.hook.statuses = [500, 503, 200]
    delivery = fixture.delivery

    for attempt in (1, 2, 3):
        await attempt_delivery(fixture.world.deps, replace(delivery, attempt=attempt))

    assert {headers["webhook-id"] for headers, _, _ in fixture.hook.received} == {
        build_delivery_id(delivery)
    }
    assert len({body for _, _, body in fixture.hook.received}) == 1
    assert [body["attempt"] for body in fixture.list_due()] == [2, 3]
    assert await fixture.read_log() == [(True, "HTTP 500"), (True, "HTTP 503"), (False, None)]


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404, 408, 409, 429, 500, 503])
async def test_a_status_other_than_2xx_is_retried_t18(fixture, status):
    fixture.hook.statuses = [status]

    await attempt_delivery(fixture.world.deps, fixture.delivery)

    assert [body["attempt"] for body in fixture.list_due()] == [2]
    assert await fixture.read_log() == [(True, f"HTTP {status}")]


@pytest.mark.parametrize(("status", "next_attempts"), [(200, []), (500, [2])])
@pytest.mark.parametrize(
    ("answer", "encoding"), [(b"x" * 2_000_000, "identity"), (b"no gzip", "gzip"), (b"x", "br")]
)
async def test_only_the_response_status_decides_whether_a_delivery_succeeded_t18(
    fixture, status, next_attempts, answer, encoding
):
    fixture.hook.statuses = [status]
    fixture.hook.answer, fixture.hook.encoding = answer, encoding

    await attempt_delivery(fixture.world.deps, fixture.delivery)

    assert [body["attempt"] for body in fixture.list_due()] == next_attempts


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://169.254.169.254/hook", "The address must start with https://."),
        ("https://127.0.0.1/hook", "The host must be a public DNS name, not an IP address or a local name."),
        ("nonsense", "The address is not a plain http(s) URL."),
    ],
)  # fmt: skip
async def test_egress_rules_apply_to_webhook_urls_t18_t10(fixture, url, error):
    await fixture.integrate(webhook_url=url)

    await attempt_delivery(fixture.world.deps, fixture.delivery)

    assert fixture.hook.received == []
    assert await fixture.read_log() == [(True, error)]


async def test_the_call_log_says_when_a_delivery_was_given_up_t18(fixture):
    fixture.hook.statuses = [500]

    for attempt in range(1, MAX_ATTEMPTS + 1):
        await attempt_delivery(fixture.world.deps, replace(fixture.delivery, attempt=attempt))

    assert [body["attempt"] for body in fixture.list_due()] == list(range(2, MAX_ATTEMPTS + 1))
    assert (await fixture.read_log())[-1] == (
        True,
        f"given up after {MAX_ATTEMPTS} attempts: HTTP 500",
    )


@pytest.mark.parametrize("fault", [raise_unavailable, raise_timed_out, lose_response])
async def test_a_delivery_is_repeated_when_its_retry_cannot_be_queued_t18(fixture, fault):
    fixture.hook.statuses = [500, 200]
    tasks = FaultyPort(fixture.world.tasks, create=[fault])
    deps = replace(fixture.world.deps, tasks=tasks)

    with pytest.raises(Unavailable):
        await attempt_delivery(deps, fixture.delivery)
    await attempt_delivery(deps, fixture.delivery)

    assert {headers["webhook-id"] for headers, _, _ in fixture.hook.received} == {
        build_delivery_id(fixture.delivery)
    }
    assert len(fixture.hook.received) == 2


@pytest.mark.parametrize("fault", [raise_unavailable, raise_timed_out])
@pytest.mark.parametrize("port", ["apps", "installed_apps", "conversations"])
async def test_nothing_is_delivered_while_the_store_is_unavailable_t18(fixture, port, fault):
    methods = {"apps": "get_many", "installed_apps": "get", "conversations": "get"}
    store = FaultyPort(getattr(fixture.world.deps.stores, port), **{methods[port]: [fault]})
    stores = replace_stores(fixture.world.deps.stores, **{port: store})
    deps = replace(fixture.world.deps, stores=stores)

    with pytest.raises(Unavailable):
        await attempt_delivery(deps, fixture.delivery)
    assert fixture.hook.received == []
    await attempt_delivery(deps, fixture.delivery)

    assert len(fixture.hook.received) == 1


@pytest.mark.parametrize("fault", [raise_unavailable, raise_timed_out, lose_response])
async def test_a_failing_call_log_does_not_repeat_a_delivery_t18(fixture, fault):
    stores = fixture.world.deps.stores
    stores = replace_stores(stores, call_log=FaultyPort(stores.call_log, add=[fault]))
    deps = replace(fixture.world.deps, stores=stores)

    await attempt_delivery(deps, fixture.delivery)

    assert (len(fixture.hook.received), fixture.list_due()) == (1, [])


async def test_each_subscribed_app_gets_its_own_task_t18(fixture):
    now = fixture.world.clock.now()
    journal = replace(await fixture.world.deps.stores.apps.get(DIARY), id=AppId("02JOURNAL"))
    await fixture.world.deps.stores.apps.create(journal)
    installation = InstalledApp.of(journal, now)
    await fixture.world.deps.stores.installed_apps.add(ALICE, installation)

    tasks = await fixture.announce()

    assert [body["app_id"] for body in tasks] == [DIARY, journal.id]


async def test_a_subscription_added_after_installation_needs_the_users_permission_t18(fixture):
    apps, diary = (
        fixture.world.deps.stores.installed_apps,
        await fixture.world.deps.stores.apps.get(DIARY),
    )
    now = fixture.world.clock.now()
    unsubscribed_app = replace(diary, external_integration=ExternalIntegration())
    await apps.add(ALICE, InstalledApp.of(unsubscribed_app, now))
    tasks_without_permission = await fixture.announce()
    await attempt_delivery(fixture.world.deps, fixture.delivery)
    deliveries_without_permission = list(fixture.hook.received)
    await apps.add(ALICE, InstalledApp.of(diary, now))

    assert (tasks_without_permission, deliveries_without_permission) == ([], [])
    assert len(await fixture.announce_another()) == 1


def test_retry_delays_increase_t18():
    assert sorted(RETRY_DELAYS) == list(RETRY_DELAYS)
    assert MAX_ATTEMPTS == 7


async def test_status_410_disables_the_webhook_and_notifies_its_developer_t18(fixture):
    fixture.hook.statuses = [410]
    await attempt_delivery(fixture.world.deps, fixture.delivery)

    assert fixture.list_due() == []
    assert await fixture.read_log() == [(True, "given up after 1 attempts: HTTP 410")]
    app = await fixture.world.deps.stores.apps.get(DIARY)
    assert app.webhook_off is not None
    assert app.switched_off is None
    assert await fixture.announce_another() == []
    notified_users = [
        task.body["uid"]
        for task in fixture.world.tasks.created
        if task.target == "deliver_notification"
    ]
    assert notified_users == ["dev"]

    change = {"description": "It takes calls again."}
    await fixture.world.request("PATCH", f"/v1/apps/{DIARY}", uid="dev", json=change)

    assert len(await fixture.announce_another()) == 1


async def fail_last_attempt(fixture: WebhookFixture) -> None:
    """Let the last attempt for one more conversation fail, after all retry delays."""
    fixture.hook.statuses = [500]
    fixture.world.clock.advance(seconds=sum(RETRY_DELAYS, timedelta()).total_seconds())
    another = await fixture.keep_another()
    await attempt_delivery(
        fixture.world.deps,
        replace(fixture.delivery, subject_id=another, attempt=MAX_ATTEMPTS),
    )


async def list_notices(fixture: WebhookFixture) -> list[tuple[str, str]]:
    page = await fixture.world.deps.stores.inbox.list_delivered(UserId("dev"), limit=9)
    return [(notice.title, notice.body) for notice in page.items]


async def test_a_webhook_without_a_successful_delivery_for_a_day_is_disabled_t9(fixture):
    await attempt_delivery(fixture.world.deps, fixture.delivery)
    fixture.world.clock.advance(hours=7)
    await fail_last_attempt(fixture)
    await fail_last_attempt(fixture)

    app = await fixture.world.deps.stores.apps.get(DIARY)
    assert app.webhook_off is not None
    assert "Nothing arrived for a day" in app.webhook_off.reason
    assert app.switched_off is None
    assert await list_notices(fixture) == [
        ("Diary: webhook was switched off", app.webhook_off.reason)
    ]
    assert len(fixture.hook.received) == 2, "the second was overtaken by the verdict"
    assert await fixture.announce_another() == []

    change = {"description": "It takes calls again."}
    await fixture.world.request("PATCH", f"/v1/apps/{DIARY}", uid="dev", json=change)
    await fail_last_attempt(fixture)

    assert len(await fixture.announce_another()) == 1, "it has another day from then on"


async def test_a_webhook_with_a_successful_delivery_within_a_day_stays_enabled_t9(fixture):
    await log_call(fixture, hours=23, kind="webhook")
    fixture.world.clock.advance(hours=20)

    await fail_last_attempt(fixture)

    assert (await fixture.world.deps.stores.apps.get(DIARY)).webhook_off is None
    assert await list_notices(fixture) == []


async def test_successful_tool_calls_do_not_keep_a_failing_webhook_enabled_t9(fixture):
    await log_call(fixture, hours=23, kind="tool")
    fixture.world.clock.advance(hours=7)

    await fail_last_attempt(fixture)

    assert (await fixture.world.deps.stores.apps.get(DIARY)).webhook_off is not None


async def log_call(fixture: WebhookFixture, *, hours: float, kind: CallKind) -> None:
    """Log a successful call, so long after now."""
    at = fixture.world.clock.now() + timedelta(hours=hours)
    call = AppCall(id="well", at=at, kind=kind, name="t", ms=1, user="u")
    await fixture.world.deps.stores.call_log.add(DIARY, call)


async def test_one_failed_attempt_after_days_without_events_does_not_disable_the_webhook_t9(
    fixture,
):
    fixture.hook.statuses = [500]
    fixture.world.clock.advance(hours=72)

    await attempt_delivery(fixture.world.deps, replace(fixture.delivery, attempt=MAX_ATTEMPTS - 1))

    assert (await fixture.world.deps.stores.apps.get(DIARY)).webhook_off is None


@pytest.mark.parametrize("fault", [raise_unavailable, raise_timed_out, lose_response])
@pytest.mark.parametrize(("port", "method"), [("call_log", "has_success"), ("inbox", "add"), ("apps", "update_app")])  # fmt: skip
async def test_an_interrupted_disabling_is_repeated_and_notifies_once_t9(
    fixture, port, method, fault
):
    fixture.world.clock.advance(hours=7)
    deps = fixture.world.deps
    store = FaultyPort(getattr(deps.stores, port), **{method: [fault]})
    fixture.world.deps = replace(deps, stores=replace_stores(deps.stores, **{port: store}))
    with pytest.raises(Unavailable):
        await fail_last_attempt(fixture)

    fixture.world.deps = deps
    await attempt_delivery(deps, replace(fixture.delivery, attempt=MAX_ATTEMPTS))

    assert (await deps.stores.apps.get(DIARY)).webhook_off is not None
    assert len(await list_notices(fixture)) == 1


async def undo_installation(fixture: WebhookFixture) -> None:
    await fixture.world.deps.stores.installed_apps.remove(ALICE, DIARY)


async def delete_conversation(fixture: WebhookFixture) -> None:
    await fixture.world.documents.write(Delete(conversation_path(ALICE, TALK)))


async def discard(fixture: WebhookFixture) -> None:
    await fixture.write(replace(fixture.conversation, discarded=True))


async def delete_app(fixture: WebhookFixture) -> None:
    await fixture.world.deps.stores.apps.remove(DIARY)


async def erase_its_owner(fixture: WebhookFixture) -> None:
    await fixture.world.documents.delete_tree(f"users/{ALICE}")


async def hide_app(fixture: WebhookFixture) -> None:
    await fixture.change(private=True)


async def switch_off(fixture: WebhookFixture) -> None:
    await fixture.change(webhook_off=Deactivation(at=fixture.world.clock.now(), reason="gone"))


@pytest.mark.parametrize(
    "change",
    [
        undo_installation,
        delete_conversation,
        discard,
        delete_app,
        hide_app,
        switch_off,
        erase_its_owner,
    ],
)
async def test_changes_between_event_and_delivery_cancel_the_delivery_t18(fixture, change):
    await fixture.announce()
    await change(fixture)

    await attempt_delivery(fixture.world.deps, fixture.delivery)

    assert fixture.hook.received == []
    assert await fixture.read_log() == []


@pytest.mark.parametrize("status", ["processing", "failed"])
async def test_a_conversation_that_is_reprocessed_is_delivered_by_a_later_attempt_t18(
    fixture, status
):
    """Its next event has the same hash, so that it may queue nothing."""
    await fixture.announce()
    await fixture.write(replace(fixture.conversation, status=status))
    await attempt_delivery(fixture.world.deps, fixture.delivery)
    early_deliveries = list(fixture.hook.received)
    await fixture.write(fixture.conversation)

    *_, later = await fixture.announce()
    await attempt_delivery(fixture.world.deps, replace(fixture.delivery, attempt=later["attempt"]))

    assert (early_deliveries, later["attempt"]) == ([], 2)
    assert len(fixture.hook.received) == 1


async def test_a_conversation_still_processing_at_the_last_attempt_is_not_delivered_t18(fixture):
    await fixture.write(replace(fixture.conversation, status="processing"))

    await attempt_delivery(fixture.world.deps, replace(fixture.delivery, attempt=MAX_ATTEMPTS))

    assert (fixture.hook.received, fixture.list_due(), await fixture.read_log()) == ([], [], [])


async def test_speaker_names_set_by_the_owner_are_in_the_payload_t18(fixture):
    bo = Speaker(name="Bo", person_id=PersonId("bo"), is_user=True)
    renamed = replace(fixture.conversation, speakers={"SPEAKER_01": bo})
    await fixture.write(renamed)

    await attempt_delivery(fixture.world.deps, fixture.delivery)

    [(_, _, body)] = fixture.hook.received
    segments = json.loads(body)["transcript_segments"]
    assert [(s["speaker"], s["speaker_name"]) for s in segments] == [
        ("SPEAKER_00", "Ann"),
        ("SPEAKER_01", "Bo"),
    ]


async def post(fixture: WebhookFixture, function: str, body: Any) -> Response:
    routes: Mapping[str, Sequence[Route[DeliveryDeps]]]
    routes = {"on_conversation_processed": QUEUE_ROUTES, "deliver_webhook": DELIVERY_ROUTES}
    async with AsyncClient(
        transport=ASGITransport(build_application(function, routes[function], fixture.world.deps)),
        base_url="http://test",
        headers=await build_service_headers(function),
    ) as client:
        return await client.post("/", json=body)


async def test_the_delivery_endpoint_accepts_the_task_body_that_was_queued_t18(fixture):
    [task] = await fixture.announce()

    answer = await post(fixture, "deliver_webhook", task)

    assert answer.status_code == 204
    assert len(fixture.hook.received) == 1


@pytest.mark.parametrize("function", ["on_conversation_processed", "deliver_webhook"])
async def test_an_empty_body_is_rejected_t18(fixture, function):
    assert (await post(fixture, function, {})).status_code == 422
