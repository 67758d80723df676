"""Renewal of what models wrote about a renamed person, and of own names: within a budget, once, told to the owner (F3)."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from functions.process_conversation.deps import RenewalDeps, SweepDeps
from functions.process_conversation.upkeep.renew_texts import STEP_SIZE, renew
from functions.process_conversation.upkeep.sweep import sweep
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.account.quotas import Quotas
from shared.data.conversations.conversations import conversation_path
from shared.data.people.people import People
from shared.data.people.renewals import Renewals
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Conversation, Speaker, content_hash
from shared.domain.conversations.renewal import Renewal
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, PersonId
from shared.domain.people.person import Person
from shared.domain.store.documents import Set, Update
from tests.fakes import ScriptedModel
from tests.fault_injection import FaultyPort, raise_unavailable, succeed
from tests.fixtures.callers import IDENTITY, SERVICE_IDENTITY
from tests.fixtures.library import build_client
from tests.fixtures.processing import (
    ALICE,
    EXTRACTION,
    TALK,
    ProcessingFixture,
    build_extraction_output,
    build_memory_output,
    build_processing_fixture,
    build_test_conversation,
)
from tests.fixtures.storage import INDEXES

BOB = PersonId("p1")
SPEAKER = {
    "speakers": {"SPEAKER_01": dump(Speaker(name="Bob", person_id=BOB))},
    "person_ids": [BOB],
}


@dataclass
class Renewing:
    """A world with Bob, whose renewals take so many conversations a day."""

    world: ProcessingFixture
    limit: int = 12
    read: Counter[str] = field(default_factory=Counter)

    def deps(self, **ports: Any) -> RenewalDeps:
        quotas = Quotas(self.world.documents, {"renewals": self.limit})
        parts = {"events": self.world.events, "stores": self.world.deps.stores, "quotas": quotas}
        return RenewalDeps(
            identity=IDENTITY,
            service_identity=SERVICE_IDENTITY,
            clock=self.world.clock,
            **{**parts, **ports},
        )

    async def add_bob(self) -> None:
        now = self.world.clock.now()
        await People(self.world.documents).add(
            ALICE, Person(id=BOB, name="Bob", created_at=now, updated_at=now)
        )

    async def store_processed(self, count: int) -> None:
        """Store conversations in which Bob speaks, and that models have read."""
        for n in range(count):
            known = build_test_conversation(id=ConversationId(f"c{n:02}"), status="completed")
            at = self.world.clock.now() - timedelta(days=1)
            known = replace(known, processed_hash=content_hash(known), processed_at=at)
            path = conversation_path(ALICE, known.id)
            await self.world.documents.write(Set(path, {**dump(known), **SPEAKER}))

    async def rename(self, name: str) -> None:
        async with build_client(self.world, ALICE) as alice:
            answer = await alice.patch(f"/v1/users/people/{BOB}/name", params={"value": name})
        assert answer.status_code == 200

    async def run_minute(self) -> int:
        """Run a minute's sweep and what it begins; return how many conversations are read again."""
        self.world.clock.advance(minutes=1)
        await sweep(self._build_sweep_deps())
        before = len(self.world.events.list_by_topic("conversation.changed"))
        for task in self.world.tasks.list_by_target("renew_texts"):
            self.world.tasks.created.remove(task)
            found = await Renewals(self.world.documents).find(ALICE, task.body["subject"])
            if found is not None:
                await renew(self.deps(), ALICE, found)
        messages = self.world.events.list_by_topic("conversation.changed")[before:]
        for message in messages:
            await self.finish(ConversationId(message["conversation_id"]))
        return len(messages)

    async def finish(self, name: ConversationId) -> None:
        """Read a conversation again, as processing does."""
        self.read[name] += 1
        changes = {"processed_hash": "new", "processed_at": self.world.clock.now()}
        await self.world.documents.write(Update(conversation_path(ALICE, name), changes))

    def _build_sweep_deps(self) -> SweepDeps:
        return SweepDeps(
            identity=IDENTITY,
            service_identity=SERVICE_IDENTITY,
            clock=self.world.clock,
            documents=self.world.documents,
            due_documents=SqliteDocuments(self.world.database, INDEXES),
            user_list=SqliteDocuments(self.world.database, INDEXES),
            events=self.world.events,
            tasks=self.world.tasks,
            stores=self.world.deps.stores,
            quotas=self.world.deps.quotas,
        )

    async def load_progress(self) -> tuple[int, int]:
        async with build_client(self.world, ALICE) as alice:
            shown = (await alice.get("/v1/users/renewals")).json()
        return shown["done"], shown["total"]


@pytest.fixture
async def renewing(database) -> Renewing:
    renewing = Renewing(build_processing_fixture(database, ScriptedModel()))
    await renewing.add_bob()
    return renewing


async def test_a_renamed_person_is_read_again_within_the_budget_of_a_day_f3(renewing):
    await renewing.store_processed(30)

    await renewing.rename("Robert")

    assert await renewing.run_minute() == renewing.limit
    assert await renewing.run_minute() == 0
    assert await renewing.load_progress() == (12, 30)

    for _ in range(3):
        renewing.world.clock.advance(days=1)
        await renewing.run_minute()
        await renewing.run_minute()

    assert renewing.read == Counter(f"c{n:02}" for n in range(30))
    assert await renewing.load_progress() == (0, 0)


async def test_a_step_takes_no_more_than_a_few_whatever_the_budget(renewing):
    renewing.limit = 1_000
    await renewing.store_processed(STEP_SIZE + 2)

    await renewing.rename("Robert")

    assert [await renewing.run_minute() for _ in range(3)] == [STEP_SIZE, 2, 0]


async def test_renaming_again_begins_once_and_reads_each_conversation_with_the_last_name(renewing):
    await renewing.store_processed(5)

    await renewing.rename("Robert")
    renewing.world.clock.advance(seconds=1)
    await renewing.rename("Rob")
    await renewing.rename("Rob")
    assert [await renewing.run_minute() for _ in range(3)] == [5, 0, 0]

    renewing.world.clock.advance(days=1)
    await renewing.rename("Bob")
    assert await renewing.run_minute() == 5
    assert set(renewing.read.values()) == {2}


async def test_a_role_or_the_same_name_has_nothing_read_again(renewing):
    await renewing.store_processed(2)

    async with build_client(renewing.world, ALICE) as alice:
        await alice.patch(f"/v1/users/people/{BOB}/role", json={"value": "my brother"})
    await renewing.rename("Bob")

    assert await renewing.run_minute() == 0


async def test_a_step_that_died_goes_on_without_taking_anything_twice(renewing):
    await renewing.store_processed(4)
    await renewing.rename("Robert")
    renewal = await Renewals(renewing.world.documents).find(ALICE, BOB)
    assert renewal is not None
    broken: Any = FaultyPort(renewing.world.events, publish=[succeed, raise_unavailable])

    with pytest.raises(Unavailable):
        await renew(renewing.deps(events=broken), ALICE, renewal)
    renewing.world.events.published.clear()
    await renewing.run_minute()

    usage = await Quotas(renewing.world.documents, {}).load_usage(ALICE, renewing.world.clock.now())
    assert set(renewing.read) == {"c00", "c01", "c02", "c03"}
    assert usage["renewals"] == 4


async def rename_who_spoke(database: Any) -> tuple[Renewing, Renewal]:
    """Process a talk with Bob, of which a model tells by his name; then call him Robert."""
    answers = [
        build_extraction_output(build_memory_output("Bob sails"), title="Bob's boat"),
        build_extraction_output(build_memory_output("Robert sails"), title="Robert's boat"),
    ]
    world = build_processing_fixture(database, ScriptedModel(answers={EXTRACTION: answers}))
    renewing = Renewing(world)
    await renewing.add_bob()
    await world.write(build_test_conversation())
    await world.documents.write(Update(conversation_path(ALICE, TALK), SPEAKER))
    await world.deliver_all()
    world.clock.advance(minutes=5)
    await renewing.rename("Robert")
    renewal = await Renewals(world.documents).find(ALICE, BOB)
    assert renewal is not None
    return renewing, renewal


async def test_titles_and_memories_have_the_new_name(database):
    renewing, renewal = await rename_who_spoke(database)
    world = renewing.world
    await renew(renewing.deps(), ALICE, renewal)
    for message in world.events.list_by_topic("conversation.changed")[-1:]:
        await world.deliver(message)

    assert (await load(world)).structured.title == "Robert's boat"
    memories = await world.deps.stores.memories.list_newest(ALICE, limit=10)
    assert [memory.content for memory in memories] == ["Robert sails"]


async def test_a_renewal_whose_event_is_lost_is_found_within_five_minutes_f2(database):
    renewing, renewal = await rename_who_spoke(database)
    world = renewing.world

    await renew(renewing.deps(), ALICE, renewal)
    lost = len(world.events.list_by_topic("conversation.changed"))
    world.clock.advance(minutes=5)
    await sweep(renewing._build_sweep_deps())
    for message in world.events.list_by_topic("conversation.changed")[lost:]:
        await world.deliver(message)

    assert (await load(world)).structured.title == "Robert's boat"


async def load(world: ProcessingFixture) -> Conversation:
    return await world.deps.stores.conversations.get(ALICE, TALK)
