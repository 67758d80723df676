"""Events: what is published reaches each subscriber at least once, embedded and on Pub/Sub."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from infra.emulators.eventarc import add_topic
from infra.local.pump import HttpDelivery, Pump
from shared import telemetry
from shared.adapters.local_identity import LocalServiceIdentity
from shared.adapters.pubsub_events import PubsubEvents
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_queue import SqliteEvents, SqliteQueue
from shared.domain.errors import Unavailable
from shared.edge.cloudevents import pubsub_event
from shared.ports import Events
from tests.doubles import FixedClock
from tests.servers import running
from tests.servers.receiver import Receiver

TOPIC = "conversation.changed"
TARGETS = ["process", "tell"]


@dataclass
class World:
    """The port, and a way to let time pass until deliveries have been tried."""

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
) -> AsyncIterator[World]:
    if kind == "sqlite":
        async with httpx.AsyncClient(trust_env=False) as client:
            yield _embedded(tmp_path, client, receiver_url)
    else:
        emulator = request.getfixturevalue("pubsub_emulator")
        monkeypatch.setenv("PUBSUB_EMULATOR_HOST", emulator)
        yield await _emulated(emulator, receiver_url)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver(refusals=1)


@pytest.fixture
def receiver_url(receiver: Receiver) -> Iterator[str]:
    with running(receiver.app) as url:
        yield url


async def test_an_event_comes_again_after_a_refusal_and_reaches_every_subscriber(
    world: World, receiver: Receiver
) -> None:
    await world.events.publish(TOPIC, {"conversation_id": "c1", "hash": "h"})
    await world.deliver()

    arrived = [await receiver.next() for _ in range(len(TARGETS) + 1)]

    assert [pubsub_event(*request) for request in arrived] == [
        {"conversation_id": "c1", "hash": "h"}
    ] * 3
    subscribers = {pubsub_subscription(body) for _, body in arrived}
    assert len(subscribers) == len(TARGETS)


async def test_a_redelivered_event_has_the_same_message_id(
    world: World, receiver: Receiver
) -> None:
    await world.events.publish(TOPIC, {"conversation_id": "c1"})
    await world.deliver()

    arrived = [await receiver.next() for _ in range(len(TARGETS) + 1)]

    refused, *_ = arrived
    same = [b for _, b in arrived if pubsub_subscription(b) == pubsub_subscription(refused[1])]
    assert len({message_id(body) for body in same}) == 1
    assert len(same) == 2


async def test_c75_an_event_carries_the_trace_of_who_published_it(
    world: World, receiver: Receiver
) -> None:
    with telemetry.request("publisher"):
        published_in = telemetry.trace()
        await world.events.publish(TOPIC, {"conversation_id": "c1"})
    await world.deliver()

    headers, body = await receiver.next()

    with telemetry.request("subscriber", carried=headers):
        pubsub_event(headers, body)
        read_in = telemetry.trace()
    assert trace_of(read_in) == trace_of(published_in)
    assert read_in["x-request-id"] == published_in["x-request-id"]


async def test_pubsub_that_does_not_take_the_event_is_unavailable(
    pubsub_emulator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)

    with pytest.raises(Unavailable):
        await PubsubEvents(project=f"demo-{uuid4().hex[:8]}").publish("no-such-topic", {})


async def test_an_undeclared_topic_is_a_bug(tmp_path: Path) -> None:
    queue = SqliteQueue(SqliteDatabase(tmp_path / "keepsake.db"), FixedClock())

    with pytest.raises(KeyError):
        await SqliteEvents(queue, {}).publish("no-such-topic", {})


def trace_of(carried: Mapping[str, str]) -> str:
    return carried["traceparent"].split("-")[1]


def pubsub_subscription(body: bytes) -> str:
    return str(json.loads(body)["subscription"])


def message_id(body: bytes) -> str:
    return str(json.loads(body)["message"]["messageId"])


def _embedded(data_dir: Path, client: httpx.AsyncClient, url: str) -> World:
    clock = FixedClock()
    queue = SqliteQueue(SqliteDatabase(data_dir / "keepsake.db"), clock)
    services = LocalServiceIdentity(b"s" * 32)
    delivery = HttpDelivery(client, services, url=f"{url}/{{}}".format, project="demo")
    pump = Pump(queue, delivery)

    async def deliver() -> None:
        await pump.drain()
        clock.pass_(seconds=1)
        await pump.drain()

    return World(SqliteEvents(queue, {TOPIC: TARGETS}), deliver)


async def _emulated(emulator: str, url: str) -> World:
    project = f"demo-{uuid4().hex[:8]}"
    await add_topic(emulator, project=project, topic=TOPIC, targets=TARGETS, relay=url)

    async def deliver() -> None:
        """Pub/Sub pushes by itself."""

    return World(PubsubEvents(project=project), deliver)
