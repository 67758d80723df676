"""Documents that a processed conversation reads and writes, as Firestore bills them (D11)."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from functions.process_conversation.processing.extract_content import MAX_OPEN_TASKS
from shared import telemetry
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.metered_documents import MeteredDocuments
from shared.data.conversations.conversations import conversation_path, tombstone_path
from shared.data.stores import Stores
from shared.data.tasks.action_items import MAX_ALIKE
from shared.domain.ids import ActionItemId, ConversationId
from shared.domain.store.documents import Set
from shared.domain.tasks.action_item import ActionItem
from tests.fakes import ScriptedModel
from tests.fixtures.processing import (
    ALICE,
    START,
    TALK,
    ProcessingFixture,
    build_extraction_output,
    build_memory_output,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)
from tests.functions.process_conversation.test_reconcile import build_fact

HANDED_IN = build_test_conversation(listed_at=START)
"""A conversation as the library stores it."""
OTHER = replace(HANDED_IN, id=ConversationId("other"))


FACTS = ["User is allergic to peanuts"]
TASK = {"description": "Call the printer"}
FACT = build_memory_output(*FACTS)
HOME = build_memory_output("User lives in Bonn", exclusive_key="home")


@dataclass(frozen=True)
class Cost:
    reads: int
    writes: int


def meter(name: str, port: Any) -> Any:
    return MeteredDocuments(port) if name == "documents" else port


def open_world(database: SqliteDatabase, *outputs: dict[str, Any]) -> ProcessingFixture:
    model = ScriptedModel(answers=build_script(*outputs))
    return build_processing_fixture(database, model, meter)


async def process_one(world: ProcessingFixture) -> Cost:
    """Deliver what the trigger says of one conversation; count what processing it costs."""
    [message] = await world.run_trigger()
    with telemetry.log_request("process_conversation"):
        await world.deliver(message)
        fields = telemetry.get_fields()
    return Cost(fields.get("reads", 0), fields.get("writes", 0))


@pytest.mark.parametrize(
    ("tasks", "facts", "most"),
    [
        ([], [], Cost(11, 5)),
        ([TASK], [], Cost(11, 6)),
        ([TASK], [FACT], Cost(14, 7)),
        ([TASK], [HOME], Cost(14, 7)),
    ],
    ids=["nothing", "a task", "a task and a memory", "a task and a home"],
)
async def test_a_new_conversation_costs_few_documents_d11(
    database: SqliteDatabase, tasks: list[Any], facts: list[Any], most: Cost
) -> None:
    world = open_world(database, build_extraction_output(*facts, action_items=tasks))
    await Stores(world.documents).conversations.add(ALICE, HANDED_IN)

    cost = await process_one(world)

    assert (await world.load_conversation()).status == "completed"
    assert cost.reads <= most.reads
    assert cost.writes <= most.writes


async def test_known_facts_cost_one_read_each_d11(database: SqliteDatabase) -> None:
    world = open_world(database, *[build_outputs(items=[], facts=FACTS)] * 2)
    conversations = Stores(world.documents).conversations
    await conversations.add(ALICE, OTHER)
    await process_one(world)
    await conversations.add(ALICE, HANDED_IN)

    cost = await process_one(world)

    assert cost.reads <= 13


@pytest.mark.parametrize("due_at", [None, "2026-03-09"], ids=["at any time", "at one time"])
async def test_a_task_costs_few_reads_however_many_say_the_same_d11(
    database: SqliteDatabase, due_at: str | None
) -> None:
    output = build_extraction_output(action_items=[{**TASK, "due_at": due_at}])
    world = open_world(database, output)
    stores = Stores(world.documents)
    for n in range(MAX_OPEN_TASKS + 40):
        due = START + timedelta(days=90 + n)
        task = ActionItem(
            id=ActionItemId(f"task-{n}"),
            description=TASK["description"],
            created_at=START,
            updated_at=START,
            due_at=due,
            owner="other",
        )
        await stores.action_items.add(ALICE, task)
    await stores.conversations.add(ALICE, HANDED_IN)

    cost = await process_one(world)

    assert cost.reads <= 11 + MAX_OPEN_TASKS + MAX_ALIKE
    assert len(await stores.action_items.list_for_conversation(ALICE, TALK)) == 1


async def test_corrected_facts_cost_nothing_d11(database: SqliteDatabase) -> None:
    world = open_world(database, build_extraction_output(HOME, action_items=[]))
    stores = Stores(world.documents)
    for n in range(5):
        home = build_fact(f"User lives in place {n}", aspect="home", valid_to=START)
        await stores.memories.add(ALICE, home)
    await stores.conversations.add(ALICE, HANDED_IN)

    cost = await process_one(world)

    assert cost.reads <= 14


async def test_a_redelivery_writes_nothing_d11(database: SqliteDatabase) -> None:
    world = open_world(database, build_outputs())
    await Stores(world.documents).conversations.add(ALICE, HANDED_IN)
    [message] = await world.run_trigger()
    await world.deliver(message)

    with telemetry.log_request("process_conversation"):
        await world.deliver(message)
        fields = telemetry.get_fields()

    assert fields.get("writes", 0) == 0
    assert fields["reads"] <= 4


async def test_a_changed_task_outlives_its_conversation_and_a_new_one_of_the_same_id(
    database: SqliteDatabase,
) -> None:
    world = open_world(database, *[build_outputs(facts=[])] * 2)
    stores = Stores(world.documents)
    await stores.conversations.add(ALICE, HANDED_IN)
    await world.deliver_all()
    [task] = await stores.action_items.list_newest(ALICE, limit=2)
    await stores.action_items.change(ALICE, task.id, description="Call them today", edited=True)
    await stores.conversations.delete(ALICE, TALK, now=world.clock.now())
    await world.deliver_all()

    await stores.conversations.add(ALICE, HANDED_IN)
    await world.deliver_all()

    [kept] = await stores.action_items.list_newest(ALICE, limit=2)
    assert kept.description == "Call them today"


async def test_what_was_deleted_before_an_export_stays_deleted(database: SqliteDatabase) -> None:
    world = open_world(database, build_outputs(items=[]), build_outputs(items=[]))
    stores = Stores(world.documents)
    await stores.conversations.add(ALICE, HANDED_IN)
    await world.deliver_all()
    [memory] = await stores.memories.list_newest(ALICE, limit=2)
    await stores.conversations.delete(ALICE, TALK, now=world.clock.now())
    await world.deliver_all()
    tombstone = tombstone_path(conversation_path(ALICE, TALK), memory.id)

    restored = replace(HANDED_IN, restored_hash="")
    await stores.conversations.add_once(ALICE, restored, also=[Set(tombstone, {"of": "memories"})])
    await world.deliver_all()

    assert await stores.memories.list_newest(ALICE, limit=2) == []
