"""Eventarc relay: a write by a Firestore client reaches a function as the cloud would send it (P28)."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore import AsyncClient

from infra.emulators.eventarc import Eventarc, add_topic, add_trigger
from infra.emulators.firestore import run_firestore
from shared.adapters.cloud.pubsub_events import PubsubEvents
from shared.adapters.embedded.local_service_identity import LocalServiceIdentity
from shared.edge.declare.cloudevents import (
    DocumentChange,
    parse_document_change,
    parse_pubsub_event,
)
from tests.conftest import ROOT, run_or_skip
from tests.fixtures.callers import build_service_identity
from tests.servers import run_server
from tests.servers.receiver import Receiver

pytestmark = pytest.mark.emulators

PATH = "users/alice/conversations/c1"
FIRST = {
    "title": "At the café",
    "started_at": datetime(2026, 3, 2, 12, 0, 0, 123456, tzinfo=UTC),
    "segments": [{"text": "Hello", "start": 0.5, "is_user": True}],
    "audio": b"\x00\xff",
    "count": 3,
    "note": None,
}


@dataclass
class EventarcFixture:
    """A Firestore emulator whose triggers reach `function` through the relay."""

    firestore: str
    relay: str
    services: LocalServiceIdentity


@pytest.fixture(scope="module")
def function() -> Receiver:
    return Receiver()


@pytest.fixture(scope="module")
def cloud(
    function: Receiver, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EventarcFixture]:
    services = build_service_identity("on_conversation_written", "on_note", "process_conversation")
    with ExitStack() as stack:
        url = stack.enter_context(run_server(function.app))
        eventarc = Eventarc(service_identity=services, url=f"{url}/{{}}".format)
        relay = stack.enter_context(run_server(eventarc.build_application()))
        emulator = stack.enter_context(
            run_or_skip(
                lambda: run_firestore(
                    tmp_path_factory.mktemp("eventarc") / "firestore.log",
                    rules=ROOT / "infra/firestore.rules",
                    functions=relay.removeprefix("http://"),
                )
            )
        )
        yield EventarcFixture(emulator, relay, services)


@pytest.fixture
def project() -> str:
    return f"demo-{uuid4().hex[:12]}"


@pytest.fixture
async def documents(
    cloud: EventarcFixture, project: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[AsyncClient]:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", cloud.firestore)
    client = AsyncClient(project=project, credentials=AnonymousCredentials())
    yield client
    client.close()


async def test_a_clients_creates_updates_and_deletes_reach_the_function(
    cloud: EventarcFixture, project: str, documents: AsyncClient, function: Receiver
) -> None:
    await add_trigger(
        cloud.firestore,
        project=project,
        pattern="users/{uid}/conversations/{id}",
        target="on_conversation_written",
    )
    document = documents.document(PATH)
    second = {**FIRST, "title": "At the bakery"}

    await document.set(FIRST)
    creation = parse_document_change(*await function.wait_for_request())
    await document.set(second)
    update = parse_document_change(*await function.wait_for_request())
    await document.delete()
    deletion = parse_document_change(*await function.wait_for_request())

    assert creation == DocumentChange(path=PATH, old=None, new=FIRST)
    assert update == DocumentChange(path=PATH, old=FIRST, new=second)
    assert deletion == DocumentChange(path=PATH, old=second, new=None)


async def test_a_function_is_called_with_a_service_token_and_the_headers_of_the_cloud(
    cloud: EventarcFixture, project: str, documents: AsyncClient, function: Receiver
) -> None:
    await add_trigger(cloud.firestore, project=project, pattern="notes/{id}", target="on_note")

    await documents.document("notes/n1").set({"a": 1})
    headers, _ = await function.wait_for_request()

    await cloud.services.verify(headers["authorization"].removeprefix("Bearer "), "on_note")
    assert headers["content-type"] == "application/protobuf"
    assert headers["ce-type"] == "google.cloud.firestore.document.v1.written"
    assert headers["ce-document"] == "notes/n1"


async def test_a_published_event_reaches_each_subscriber_as_a_cloudevent(
    pubsub_emulator: str,
    cloud: EventarcFixture,
    project: str,
    function: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)
    await add_topic(
        pubsub_emulator,
        project=project,
        topic="conversation.changed",
        targets=["process_conversation"],
        relay=cloud.relay,
    )

    await PubsubEvents(project=project).publish("conversation.changed", {"id": "c1"})
    headers, body = await function.wait_for_request()

    assert parse_pubsub_event(headers, body) == {"id": "c1"}
    assert headers["ce-type"] == "google.cloud.pubsub.topic.v1.messagePublished"
    assert headers["ce-source"].endswith(f"/projects/{project}/topics/conversation.changed")
    assert json.loads(body)["subscription"].startswith(f"projects/{project}/")
