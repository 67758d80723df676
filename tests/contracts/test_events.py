"""Events contract: each subscriber gets an event at least once, embedded and on Pub/Sub's emulator."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from infra.emulators.eventarc import add_topic
from infra.local.queue_worker import HttpDelivery, QueueWorker
from shared import telemetry
from shared.adapters.cloud.pubsub_events import PubsubEvents
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_queue import SqliteEvents, SqliteQueue
from shared.domain.errors import Unavailable
from shared.edge.declare.cloudevents import parse_pubsub_event
from shared.ports import Events
from tests.fakes import FixedClock
from tests.fixtures.callers import build_service_identity
from tests.servers import run_server
from tests.servers.receiver import Receiver

TOPIC = "conversation.changed"
TARGETS = ["process", "tell"]


@dataclass
class EventsFixture:
    """The port; `deliver` waits until every delivery has been attempted."""

    events: Events
    deliver: Callable[[], Awaitable[None]]


@pytest.fixture(params=["sqlite", pytest.param("pubsub", marks=pytest.mark.emulators)])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def world(
    kind: str,
    tmp_path: Path,
    receiver_url: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[EventsFixture]:
    if kind == "sqlite":
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
            yield _build_embedded(tmp_path, client, receiver_url)
    else:
        emulator = request.getfixturevalue("pubsub_emulator")
        monkeypatch.setenv("PUBSUB_EMULATOR_HOST", emulator)
        yield await _build_emulated(emulator, receiver_url)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver(refusals=1)


@pytest.fixture
def receiver_url(receiver: Receiver) -> Iterator[str]:
    with run_server(receiver.app) as url:
        yield url


async def test_an_event_is_redelivered_after_a_failure_and_reaches_every_subscriber(
    world: EventsFixture, receiver: Receiver
) -> None:
    await world.events.publish(TOPIC, {"conversation_id": "c1", "hash": "h"})
    await world.deliver()

    requests = [await receiver.wait_for_request() for _ in range(len(TARGETS) + 1)]

    assert [parse_pubsub_event(*request) for request in requests] == [
        {"conversation_id": "c1", "hash": "h"}
    ] * 3
    subscribers = {get_subscription(body) for _, body in requests}
    assert len(subscribers) == len(TARGETS)


async def test_a_redelivered_event_has_the_same_message_id(
    world: EventsFixture, receiver: Receiver
) -> None:
    await world.events.publish(TOPIC, {"conversation_id": "c1"})
    await world.deliver()

    requests = [await receiver.wait_for_request() for _ in range(len(TARGETS) + 1)]

    first_request, *_ = requests
    same_subscriber = [
        b for _, b in requests if get_subscription(b) == get_subscription(first_request[1])
    ]
    assert len({get_message_id(body) for body in same_subscriber}) == 1
    assert len(same_subscriber) == 2


async def test_an_event_carries_the_trace_of_its_publisher_c75(
    world: EventsFixture, receiver: Receiver
) -> None:
    with telemetry.log_request("publisher"):
        publisher_trace = telemetry.get_trace_headers()
        await world.events.publish(TOPIC, {"conversation_id": "c1"})
    await world.deliver()

    headers, body = await receiver.wait_for_request()

    with telemetry.log_request("subscriber", trace_headers=headers):
        parse_pubsub_event(headers, body)
        subscriber_trace = telemetry.get_trace_headers()
    assert get_trace_id(subscriber_trace) == get_trace_id(publisher_trace)
    assert subscriber_trace["x-request-id"] == publisher_trace["x-request-id"]


async def test_pubsub_refusing_an_event_is_unavailable(
    pubsub_emulator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)

    with pytest.raises(Unavailable):
        await PubsubEvents(project=f"demo-{uuid4().hex[:8]}").publish("no-such-topic", {})


async def test_an_undeclared_topic_is_a_bug(tmp_path: Path) -> None:
    queue = SqliteQueue(SqliteDatabase(tmp_path / "keepsake.db"), FixedClock())

    with pytest.raises(KeyError):
        await SqliteEvents(queue, {}).publish("no-such-topic", {})


def get_trace_id(headers: Mapping[str, str]) -> str:
    return headers["traceparent"].split("-")[1]


def get_subscription(body: bytes) -> str:
    return str(json.loads(body)["subscription"])


def get_message_id(body: bytes) -> str:
    return str(json.loads(body)["message"]["messageId"])


def _build_embedded(data_dir: Path, client: httpx.AsyncClient, url: str) -> EventsFixture:
    clock = FixedClock()
    queue = SqliteQueue(SqliteDatabase(data_dir / "keepsake.db"), clock)
    services = build_service_identity(*TARGETS)
    delivery = HttpDelivery(client, services, url=f"{url}/{{}}".format, project="demo")
    pump = QueueWorker(queue, delivery)

    async def deliver() -> None:
        await pump.drain()
        clock.advance(seconds=1)
        await pump.drain()

    return EventsFixture(SqliteEvents(queue, {TOPIC: TARGETS}), deliver)


async def _build_emulated(emulator: str, url: str) -> EventsFixture:
    project = f"demo-{uuid4().hex[:8]}"
    await add_topic(emulator, project=project, topic=TOPIC, targets=TARGETS, relay=url)

    async def deliver() -> None:
        """Do nothing: Pub/Sub pushes by itself."""

    return EventsFixture(PubsubEvents(project=project), deliver)
