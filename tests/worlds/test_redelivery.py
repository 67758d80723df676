"""P29: a real Pub/Sub push that fails comes again, and ends as a dead letter when it always fails."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from functions.process_conversation.endpoints import BURY, PROCESS
from infra.emulators.eventarc import FEWEST, Eventarc, add_topic
from shared.adapters.pubsub_events import PubsubEvents
from shared.adapters.sqlite_database import SqliteDatabase
from shared.data.dead_letters import DeadLetters
from shared.domain.conversation import Conversation
from shared.domain.dead_letter import DeadLetter
from shared.domain.errors import Unavailable
from shared.edge.http import application
from tests.doubles import ScriptedModel
from tests.functions.process_conversation.test_bury import deps as bury_deps
from tests.functions.process_conversation.world import (
    ALICE,
    STRUCTURE,
    TALK,
    World,
    answers,
    script,
    talk,
    world_on,
)
from tests.servers import running
from tests.worlds.waiting import until

pytestmark = pytest.mark.emulators

TOPIC = "conversation.changed"
OUTAGE = Unavailable("the model is down")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    yield database
    database.close()


@contextmanager
def relayed(world: World) -> Iterator[str]:
    """Serve both functions, and stand between them and Pub/Sub; yields the relay's url."""
    with ExitStack() as stack:
        app = Starlette(
            routes=[
                Mount("/process_conversation", application("process_conversation", PROCESS, world.deps)),
                Mount("/bury", application("bury", BURY, bury_deps(world))),
            ]
        )  # fmt: skip
        functions = stack.enter_context(running(app))
        services = world.deps.service_identity
        eventarc = Eventarc(service_identity=services, url=lambda name: f"{functions}/{name}/")
        yield stack.enter_context(running(eventarc.application()))


async def publish(world: World, emulator: str, relay: str, project: str) -> None:
    """Write a conversation, and tell of it by Pub/Sub."""
    topics: Sequence[tuple[str, str, str | None]] = (
        ("dead_letters", "bury", None),
        (TOPIC, "process_conversation", "dead_letters"),
    )
    for topic, target, grave in topics:
        await add_topic(
            emulator, project=project, topic=topic, targets=[target], relay=relay, dead_letters=grave
        )  # fmt: skip
    await world.write(talk())
    for message in await world.tell():
        await PubsubEvents(project=project).publish(TOPIC, message)


async def test_a_failed_push_comes_again_until_it_succeeds_p29(
    database, pubsub_emulator, monkeypatch
):
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)
    rounds = script(answers())
    rounds[STRUCTURE] = [OUTAGE, OUTAGE, *rounds[STRUCTURE]]
    with ScriptedModel(answers=rounds) as model:
        world = world_on(database, model)

        async def completed() -> bool | None:
            return (await world.stored()).status == "completed" or None

        with relayed(world) as relay:
            await publish(world, pubsub_emulator, relay, "redelivered")
            await until(completed)

    assert await DeadLetters(world.documents).newest() == []


async def test_a_push_that_always_fails_becomes_a_dead_letter_and_a_failed_conversation_p29(
    database, pubsub_emulator, monkeypatch
):
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)
    world = world_on(database, ScriptedModel(answers={STRUCTURE: [OUTAGE] * 50}))

    async def given_up() -> tuple[DeadLetter, Conversation] | None:
        letters = await DeadLetters(world.documents).newest()
        stored = await world.stored()
        return (letters[0], stored) if letters and stored.status == "failed" else None

    with relayed(world) as relay:
        await publish(world, pubsub_emulator, relay, "poisoned")
        letter, stored = await until(given_up)

    assert (letter.name, letter.target) == (TOPIC, "process_conversation")
    assert letter.ids["conversation_id"] == TALK
    assert letter.ids["uid"] == ALICE
    assert letter.attempts >= FEWEST
    assert stored.failure == f"It could not be processed in {letter.attempts} attempts."
