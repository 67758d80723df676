"""Webhooks at the started product, and over a real Pub/Sub push (T18)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import anyio.to_thread
import httpx
import pytest
from standardwebhooks import Webhook
from starlette.applications import Starlette
from starlette.routing import Mount

from functions.tool_proxy.deps import DeliveryDeps
from functions.tool_proxy.webhooks.delivery import RETRY_DELAYS
from functions.tool_proxy.webhooks.webhook_routes import DELIVERY_ROUTES, QUEUE_ROUTES
from infra.emulators.eventarc import Eventarc, add_topic
from infra.local.queue_worker import HttpDelivery, QueueWorker
from shared.adapters.cloud.pubsub_events import PubsubEvents
from shared.adapters.embedded.sqlite_queue import SqliteQueue, SqliteTasks
from shared.domain.apps.app import App, ExternalIntegration, InstalledApp
from shared.domain.conversations.conversation import content_hash
from shared.domain.ids import AppId, UserId
from shared.edge.declare.routes import Route
from shared.edge.serve.http import build_application
from tests.e2e.product import add_conversation, build_conversation_body, run_product
from tests.e2e.waiting import wait_until
from tests.fakes import FixedClock
from tests.fault_injection import FaultyPort, lose_response, raise_unavailable
from tests.fixtures.callers import SERVICE_IDENTITY
from tests.fixtures.processing import ALICE, TALK, build_test_conversation
from tests.fixtures.tool_proxy import build_deps
from tests.servers import run_server
from tests.servers.receiver import Receiver

SECRET = "whsec_" + "c2VjcmV0" * 5
TOPIC = "conversation.processed"


@pytest.fixture
def refusing_app() -> Iterator[tuple[Receiver, str]]:
    """An app's server that refuses its first call."""
    receiver = Receiver(refusals=1)
    with run_server(receiver.app) as url:
        yield receiver, url


async def test_a_webhook_is_retried_until_the_app_accepts_it_t18(refusing_app, tmp_path):
    receiver, url = refusing_app
    with (
        run_product(tmp_path, EGRESS_DEV_ORIGINS=url) as started_product,
        started_product.client("alice") as alice,
    ):
        integration = {"triggers_on": "memory_creation", "webhook_url": f"{url}/hook"}
        app = alice.post("/v1/apps", json={"name": "Diary", "external_integration": integration})
        alice.post("/v1/apps/enable", params={"app_id": app.json()["id"]}).raise_for_status()
        add_conversation(
            alice, build_conversation_body("offsite", "The Lisbon offsite moves to Friday. " * 30)
        )

        first, body = await receiver.wait_for_request()
        again, same = await receiver.wait_for_request()

        calls = await anyio.to_thread.run_sync(
            wait_until, lambda: _load_calls(alice, app.json()["id"])
        )

    payload = Webhook(app.json()["signing_secret"]).verify(same, dict(again))
    assert (payload["id"], payload["status"]) == ("offsite", "completed")
    assert payload["transcript_segments"][0]["speaker_name"] == "Ann"
    assert (first["webhook-id"], body) == (again["webhook-id"], same)
    assert [(call["kind"], call["failed"], call["error"]) for call in calls] == [
        ("webhook", False, None),
        ("webhook", True, "HTTP 500"),
    ]
    assert receiver.is_empty


def _load_calls(http: httpx.Client, app_id: str) -> list[dict[str, Any]] | None:
    calls: list[dict[str, Any]] = http.get(f"/v1/apps/{app_id}/calls").json()
    return calls if len(calls) == 2 else None


@pytest.mark.emulators
async def test_a_redelivered_push_queues_one_webhook_and_a_retry_keeps_its_id_t18(
    refusing_app, pubsub_emulator, database, documents, monkeypatch
):
    """Pub/Sub pushes three times: a task that was not created, one whose creation got lost, and none."""
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)
    receiver, hook = refusing_app
    with ExitStack() as stack:
        clock = FixedClock()
        queue = SqliteQueue(database, clock)
        tasks = FaultyPort(SqliteTasks(queue), create=[raise_unavailable, lose_response])
        deps = replace(build_deps(documents, clock, origins=[hook]), tasks=tasks)
        functions = stack.enter_context(run_server(build_functions_app(deps)))
        url = f"{functions}/{{}}/".format
        relay = Eventarc(service_identity=SERVICE_IDENTITY, url=url)
        relay_url = stack.enter_context(run_server(relay.build_application()))
        await add_topic(
            pubsub_emulator,
            project="webhooks",
            topic=TOPIC,
            targets=["on_conversation_processed"],
            relay=relay_url,
        )
        event = await install_diary(deps, hook)

        await PubsubEvents(project="webhooks").publish(TOPIC, event)
        await anyio.to_thread.run_sync(wait_until, lambda: tasks.calls["create"] == 3 or None)
        async with httpx.AsyncClient(timeout=30) as client:
            worker = QueueWorker(
                queue, HttpDelivery(client, SERVICE_IDENTITY, url=url, project="p")
            )
            await worker.drain()
            clock.advance(seconds=RETRY_DELAYS[0].total_seconds() - 1)
            await worker.drain()
            first, _ = await receiver.wait_for_request()
            assert receiver.is_empty
            clock.advance(seconds=1)
            await worker.drain()
            second, _ = await receiver.wait_for_request()

        assert receiver.is_empty
        assert first["webhook-id"] == second["webhook-id"]


def build_functions_app(deps: DeliveryDeps) -> Starlette:
    names: Mapping[str, Sequence[Route[DeliveryDeps]]]
    names = {"on_conversation_processed": QUEUE_ROUTES, "deliver_webhook": DELIVERY_ROUTES}
    return Starlette(
        routes=[
            Mount(f"/{name}", build_application(name, rows, deps)) for name, rows in names.items()
        ]
    )


async def install_diary(deps: DeliveryDeps, hook: str) -> dict[str, str]:
    """Give Alice a conversation and a diary that subscribes to it; return the event."""
    diary = App(
        id=AppId("diary"),
        owner=UserId("dev"),
        name="Diary",
        created_at=deps.clock.now(),
        private=False,
        capabilities=("external_integration",),
        signing_secret=SECRET,
        external_integration=ExternalIntegration(triggers_on="memory_creation", webhook_url=hook),
    )
    await deps.stores.apps.create(diary)
    installation = InstalledApp.of(diary, deps.clock.now())
    await deps.stores.installed_apps.add(ALICE, installation)
    stored = build_test_conversation(
        status="completed", processed_at=deps.clock.now(), kept_at=deps.clock.now()
    )
    await deps.stores.conversations.add(ALICE, stored)
    return {"uid": ALICE, "conversation_id": TALK, "content_hash": content_hash(stored)}
