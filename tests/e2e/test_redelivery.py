"""Redelivery by Pub/Sub: a failed push comes again, and becomes a dead letter if it always fails (P29)."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from functions.process_conversation.processing.processing_routes import PROCESS_ROUTES
from functions.process_conversation.upkeep.upkeep_routes import DEAD_LETTER_ROUTES
from infra.emulators.eventarc import Eventarc, add_topic
from shared.adapters.cloud.pubsub_events import PubsubEvents
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_queue import MAX_ATTEMPTS
from shared.data.store.dead_letters import DeadLetters
from shared.domain.conversations.conversation import Conversation
from shared.domain.store.dead_letter import DeadLetter
from shared.edge.serve.http import build_application
from tests.e2e.waiting import wait_until_async
from tests.fakes import ScriptedModel
from tests.fixtures.callers import SERVICE_IDENTITY
from tests.fixtures.processing import (
    ALICE,
    EXTRACTION,
    TALK,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
    fail_vectors,
)
from tests.functions.process_conversation.upkeep.test_dead_letters import (
    build_deps as dead_letter_deps,
)
from tests.servers import run_server

pytestmark = pytest.mark.emulators

TOPIC = "conversation.changed"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    yield database
    database.close()


@contextmanager
def run_relay(world: ProcessingFixture) -> Iterator[str]:
    """Serve both functions, and relay pushes to them; yields the relay's url."""
    with ExitStack() as stack:
        app = Starlette(
            routes=[
                Mount("/process_conversation", build_application("process_conversation", PROCESS_ROUTES, world.deps)),
                Mount("/record_dead_letter", build_application("record_dead_letter", DEAD_LETTER_ROUTES, dead_letter_deps(world))),
            ]
        )  # fmt: skip
        functions = stack.enter_context(run_server(app))
        eventarc = Eventarc(
            service_identity=SERVICE_IDENTITY, url=lambda name: f"{functions}/{name}/"
        )
        yield stack.enter_context(run_server(eventarc.build_application()))


async def publish(world: ProcessingFixture, emulator: str, relay: str, project: str) -> None:
    """Write a conversation, and publish its change by Pub/Sub."""
    topics: Sequence[tuple[str, str, str | None]] = (
        ("dead_letters", "record_dead_letter", None),
        (TOPIC, "process_conversation", "dead_letters"),
    )
    for topic, target, dead_letter_topic in topics:
        await add_topic(
            emulator, project=project, topic=topic, targets=[target], relay=relay, dead_letters=dead_letter_topic
        )  # fmt: skip
    await world.write(build_test_conversation())
    for message in await world.run_trigger():
        await PubsubEvents(project=project).publish(TOPIC, message)


async def test_a_failed_push_is_redelivered_until_it_succeeds_p29(
    database, pubsub_emulator, monkeypatch
):
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model, fail_vectors(2))

        async def is_completed() -> bool | None:
            return (await world.load_conversation()).status == "completed" or None

        with run_relay(world) as relay:
            await publish(world, pubsub_emulator, relay, "redelivered")
            await wait_until_async(is_completed)

    assert await DeadLetters(world.documents).list_newest() == []


async def test_a_push_that_always_fails_becomes_a_dead_letter_and_a_failed_conversation_p29(
    database, pubsub_emulator, monkeypatch
):
    """Each attempt ends by a fault of ours, so none can say what became of it."""
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)
    model = ScriptedModel(answers={EXTRACTION: [RuntimeError("a fault")] * 1_000})
    world = build_processing_fixture(database, model)

    async def load_if_failed() -> tuple[DeadLetter, Conversation] | None:
        world.clock.advance(seconds=11)  # past the lease of the attempt that ended
        letters = await DeadLetters(world.documents).list_newest()
        stored = await world.load_conversation()
        return (letters[0], stored) if letters and stored.status == "failed" else None

    with run_relay(world) as relay:
        await publish(world, pubsub_emulator, relay, "poisoned")
        letter, stored = await wait_until_async(load_if_failed)

    assert (letter.name, letter.target) == (TOPIC, "process_conversation")
    assert letter.ids["conversation_id"] == TALK
    assert letter.ids["uid"] == ALICE
    assert letter.attempts >= MAX_ATTEMPTS
    assert stored.failure == (
        f"Something that processing needs did not answer. It was tried {letter.attempts} times."
    )
