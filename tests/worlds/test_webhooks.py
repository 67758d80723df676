"""T18: what apps hear of a conversation, at the started product and over a real Pub/Sub push."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import anyio.to_thread
import httpx
import pytest
from standardwebhooks import Webhook
from starlette.applications import Starlette
from starlette.routing import Mount

from functions.tool_proxy.webhooks.delivery import DELAYS
from functions.tool_proxy.webhooks.endpoints import ANNOUNCE, DELIVER
from functions.tool_proxy.wiring import ToolProxyDeps
from infra.emulators.eventarc import Eventarc, add_topic
from infra.local.pump import HttpDelivery, Pump
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.pubsub_events import PubsubEvents
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.adapters.sqlite_queue import SqliteQueue, SqliteTasks
from shared.domain.app import App, ExternalIntegration, InstalledApp
from shared.domain.conversation import content_hash
from shared.domain.ids import AppId, UserId
from shared.edge.http import application
from tests.doubles import FixedClock
from tests.faults import Faulty, error, lost
from tests.functions.process_conversation.world import ALICE, TALK, talk
from tests.functions.tool_proxy.world import INDEXES, deps_over
from tests.servers import running
from tests.servers.receiver import Receiver
from tests.worlds.product import conversation, keep, product
from tests.worlds.waiting import wait_until

SECRET = "whsec_" + "c2VjcmV0" * 5
TOPIC = "conversation.processed"


@pytest.fixture
def refusing() -> Iterator[tuple[Receiver, str]]:
    """An app's server that refuses its first call."""
    receiver = Receiver(refusals=1)
    with running(receiver.app) as url:
        yield receiver, url


async def test_t18_an_app_hears_of_a_conversation_and_again_until_it_takes_it(refusing, tmp_path):
    receiver, url = refusing
    with (
        product(tmp_path, EGRESS_DEV_ORIGINS=url) as started,
        started.client("alice") as alice,
    ):
        integration = {"triggers_on": "memory_creation", "webhook_url": f"{url}/hook"}
        app = alice.post("/v1/apps", json={"name": "Diary", "external_integration": integration})
        alice.post("/v1/apps/enable", params={"app_id": app.json()["id"]}).raise_for_status()
        keep(alice, conversation("offsite", "The Lisbon offsite moves to Friday. " * 30))

        first, body = await receiver.next()
        again, same = await receiver.next()

        logged = await anyio.to_thread.run_sync(wait_until, lambda: _calls(alice, app.json()["id"]))

    told = Webhook(app.json()["signing_secret"]).verify(same, dict(again))
    assert (told["id"], told["status"]) == ("offsite", "completed")
    assert told["transcript_segments"][0]["speaker"] == "Ann"
    assert (first["webhook-id"], body) == (again["webhook-id"], same)
    assert [(call["kind"], call["failed"], call["error"]) for call in logged] == [
        ("webhook", False, None),
        ("webhook", True, "HTTP 500"),
    ]
    assert receiver.is_empty


def _calls(http: httpx.Client, app_id: str) -> list[dict[str, Any]] | None:
    calls: list[dict[str, Any]] = http.get(f"/v1/apps/{app_id}/calls").json()
    return calls if len(calls) == 2 else None


@pytest.mark.emulators
async def test_t18_a_redelivered_push_tells_an_app_once_and_a_failed_call_comes_again_with_its_id(
    refusing, pubsub_emulator, tmp_path, monkeypatch
):
    """Pub/Sub pushes three times: a task that was not created, one whose creation got lost, and none."""
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)
    receiver, hook = refusing
    with ExitStack() as stack:
        database = SqliteDatabase(tmp_path / "keepsake.db")
        stack.callback(database.close)
        clock = FixedClock()
        queue = SqliteQueue(database, clock)
        tasks = Faulty(SqliteTasks(queue), create=[error, lost])
        documents = SqliteDocuments(database, FirestoreIndexes.read(INDEXES))
        deps = replace(deps_over(documents, clock, origins=[hook]), tasks=tasks)
        functions = stack.enter_context(running(served(deps)))
        url = f"{functions}/{{}}/".format
        relay = Eventarc(service_identity=deps.service_identity, url=url)
        pushed = stack.enter_context(running(relay.application()))
        await add_topic(
            pubsub_emulator,
            project="webhooks",
            topic=TOPIC,
            targets=["on_conversation_processed"],
            relay=pushed,
        )
        said = await install(deps, hook)

        await PubsubEvents(project="webhooks").publish(TOPIC, said)
        await anyio.to_thread.run_sync(wait_until, lambda: tasks.calls["create"] == 3 or None)
        async with httpx.AsyncClient() as client:
            pump = Pump(queue, HttpDelivery(client, deps.service_identity, url=url, project="p"))
            await pump.drain()
            clock.pass_(seconds=DELAYS[0].total_seconds() - 1)
            await pump.drain()
            first, _ = await receiver.next()
            assert receiver.is_empty
            clock.pass_(seconds=1)
            await pump.drain()
            second, _ = await receiver.next()

        assert receiver.is_empty
        assert first["webhook-id"] == second["webhook-id"]


def served(deps: ToolProxyDeps) -> Starlette:
    names = {"on_conversation_processed": ANNOUNCE, "deliver_webhook": DELIVER}
    return Starlette(
        routes=[Mount(f"/{name}", application(name, rows, deps)) for name, rows in names.items()]
    )


async def install(deps: ToolProxyDeps, hook: str) -> dict[str, str]:
    """Give Alice a conversation and a diary that wants to hear of it; return the event."""
    diary = App(
        id=AppId("diary"),
        owner=UserId("dev"),
        name="Diary",
        created_at=deps.clock.now(),
        private=False,
        signing_secret=SECRET,
        external_integration=ExternalIntegration(triggers_on="memory_creation", webhook_url=hook),
    )
    await deps.apps.create(diary)
    installed = InstalledApp.of(diary, deps.clock.now())
    await deps.installed_apps.add(ALICE, installed)
    said = talk(status="completed")
    await deps.conversations.add(ALICE, said)
    return {"uid": ALICE, "conversation_id": TALK, "content_hash": content_hash(said)}
