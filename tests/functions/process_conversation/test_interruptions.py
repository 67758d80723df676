"""Interruptions: a crash, an outage or an edit between any two steps leads to the same end state."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.upkeep.sweep import sweep
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.memories.memories import memory_path
from shared.data.search.library_index import LibraryIndex
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import ConversationId
from shared.domain.models.model import ModelFacts
from shared.domain.store.documents import Delete
from shared.library.owner_memories import delete_memory
from tests.fakes import ScriptedModel
from tests.fault_injection import Crash, WatchedPort
from tests.fixtures.processing import (
    ALICE,
    EXTRACTION,
    TALK,
    ProcessingFixture,
    build_extraction_output,
    build_memory_output,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)
from tests.fixtures.storage import MemoryDatabase
from tests.functions.process_conversation.test_templates import build_app, install
from tests.functions.process_conversation.upkeep.test_sweep import build_deps

MAX_STEPS = 60


Action = Callable[[], Awaitable[None]]


@dataclass
class Interruption:
    """Counts the calls to ports; call number `at` is interrupted."""

    at: int
    action: Action
    after: bool
    calls: int = 0
    done: bool = False

    def wrap(self, name: str, port: Any) -> Any:
        return WatchedPort(port, self)

    async def intercept(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self.calls += 1
        if self.calls != self.at:
            return await call()
        self.done = True
        if not self.after:
            await self.action()
            return await call()
        value = await call()
        await self.action()
        return value


class EchoModel:
    """Answers from the transcript, so that each content has its own answers."""

    finds_memories = True

    def name(self, role: str) -> str:
        return "talkative"

    def describe(self, role: str) -> ModelFacts:
        return ModelFacts()

    async def complete_structured(self, role: str, prompt: Any, schema: Any) -> Any:
        text = prompt.data["transcript"][0]["text"]
        memories = [build_memory_output(f"User said {text}", evidence=text)]
        answers: dict[str, Mapping[str, Any]] = {
            EXTRACTION: build_extraction_output(
                *(memories if self.finds_memories else []),
                title=text,
                action_items=[{"description": f"Do: {text}"}],
            ),
            "process_conversation/template": {"summary": f"In short: {text}"},
        }
        return schema.model_validate(answers[prompt.name])

    def stream(self, *_: Any) -> Any:
        raise NotImplementedError


class ForgetfulModel(EchoModel):
    """Finds tasks alone: their conversation is written once, when it is completed."""

    finds_memories = False


class RefusingModel(EchoModel):
    """Refuses the old words: they are found as they were said."""

    async def complete_structured(self, role: str, prompt: Any, schema: Any) -> Any:
        if prompt.data["transcript"][0]["text"].startswith("Old"):
            raise ModelFailed("no", reason="other")
        return await super().complete_structured(role, prompt, schema)


MODELS = [EchoModel(), ForgetfulModel()]
with_both_models = pytest.mark.parametrize("model", MODELS, ids=["all", "tasks"])
OLD = build_test_conversation("Old words.", *(f"Old {n}." for n in range(9)))
NEW = build_test_conversation("New words.")


async def raise_crash() -> None:
    raise Crash


async def raise_outage() -> None:
    raise Unavailable("gone for a moment")


async def deliver_until_idle(world: ProcessingFixture, *messages: Mapping[str, Any]) -> None:
    """Deliver as the queue does: repeat failed messages, later, until none is left."""
    pending = list(messages)
    for _ in range(20):
        pending += await world.run_trigger()
        pending = pending or await sweep_waiting(world)
        if not pending:
            return
        message = pending.pop(0)
        try:
            await world.deliver(message)
        except (Crash, Unavailable):
            world.clock.advance(seconds=11)
            pending.append(message)
    raise AssertionError("it never becomes quiet")


async def sweep_waiting(world: ProcessingFixture) -> list[Mapping[str, Any]]:
    """Let the wait for a model pass; return the messages that the sweep sends then."""
    sent = len(world.events.list_by_topic("conversation.changed"))
    world.clock.advance(seconds=6)
    await sweep(build_deps(world))
    return world.events.list_by_topic("conversation.changed")[sent:]


async def compute_expected_end(
    *versions: Conversation | None, model: EchoModel | None = None
) -> dict[str, Any]:
    """Return what a user has after these versions, processed without interruption; None deletes."""
    database = MemoryDatabase()
    world = build_processing_fixture(database, model or EchoModel())
    for version in versions:
        await (world.write(version) if version else world.delete())
        await deliver_until_idle(world)
    end = await world.load_everything()
    database.close()
    return end


@with_both_models
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("cut", [raise_crash, raise_outage])
async def test_an_interruption_at_any_call_leads_to_the_same_end(model, cut, after):
    expected = await compute_expected_end(OLD, NEW, model=model)

    for at in range(1, MAX_STEPS):
        interruption = Interruption(at, cut, after)
        database = MemoryDatabase()
        world = build_processing_fixture(database, model, interruption.wrap)
        for version in (OLD, NEW):
            await world.write(version)
            await deliver_until_idle(world)
        assert await world.load_everything() == expected, f"cut at call {at}"
        assert world.events.list_by_topic("conversation.processed")
        database.close()
        if not interruption.done:
            break

    assert 20 < at < MAX_STEPS


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_crash_at_any_call_leaves_the_text_of_a_summary_app_r5(after):
    for at in range(1, MAX_STEPS):
        interruption = Interruption(at, raise_crash, after)
        database = MemoryDatabase()
        world = build_processing_fixture(database, EchoModel(), interruption.wrap)
        stores = Stores(world.documents)
        await install(stores, build_app())
        await world.write(OLD)
        await deliver_until_idle(world)
        (result,) = (await stores.conversations.get(ALICE, TALK)).apps_results
        assert result.content == "In short: Old words.", f"cut at call {at}"
        database.close()
        if not interruption.done:
            break

    assert 10 < at < MAX_STEPS


@with_both_models
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("version", [NEW, None], ids=["edited", "deleted"])
@pytest.mark.parametrize("other_first", [True, False], ids=["overtaken", "pending"])
async def test_a_change_during_any_call_leads_to_the_last_version(
    model, version, after, other_first
):
    expected = await compute_expected_end(OLD, version, model=model)

    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        other = build_processing_fixture(database, model)

        async def change(other: ProcessingFixture = other) -> None:
            await (other.write(version) if version else other.delete())
            if other_first:
                await deliver_until_idle(other)

        interruption = Interruption(at, change, after)
        world = build_processing_fixture(database, model, interruption.wrap)
        await world.write(OLD)
        await deliver_until_idle(world)
        await deliver_until_idle(other)
        if not interruption.done:
            database.close()
            break
        assert await world.load_everything() == expected, f"changed at call {at}"
        database.close()

    assert 10 < at < MAX_STEPS


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("other_first", [True, False], ids=["overtaken", "pending"])
async def test_a_conversation_stored_again_during_its_removal_is_processed(after, other_first):
    expected = await compute_expected_end(OLD, None, NEW)

    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        other = build_processing_fixture(database, EchoModel())
        await other.write(OLD)
        await deliver_until_idle(other)
        await other.delete()
        (deletion,) = await other.run_trigger()

        async def store(other: ProcessingFixture = other) -> None:
            await other.write(NEW)
            if other_first:
                await deliver_until_idle(other)

        interruption = Interruption(at, store, after)
        world = build_processing_fixture(database, EchoModel(), interruption.wrap)
        await deliver_until_idle(world, deletion)
        await deliver_until_idle(other)
        if not interruption.done:
            database.close()
            break
        assert await world.load_everything() == expected, f"stored at call {at}"
        database.close()

    assert 5 < at < MAX_STEPS


@given(
    order=st.permutations(range(4)),
    again=st.lists(st.integers(0, 3), max_size=4),
    last=st.sampled_from([OLD, NEW, None]),
)
async def test_messages_in_any_order_and_number_lead_to_what_is_stored_last(order, again, last):
    expected = await compute_expected_end(*([last] if last else [OLD, None]))
    database = MemoryDatabase()
    world = build_processing_fixture(database, EchoModel())

    messages: list[Mapping[str, Any]] = []
    for version in (OLD, NEW, OLD, last):
        await (world.write(version) if version else world.delete())
        messages += await world.run_trigger() or [{"uid": ALICE, "conversation_id": TALK}]
    for number in (*order, *again):
        await world.deliver(messages[number])

    end = await world.load_everything()
    database.close()
    assert end == expected


async def test_an_attempt_whose_lease_ran_out_cannot_save_over_its_successor(database):
    late = build_processing_fixture(database, EchoModel())
    await late.write(OLD)
    (message,) = await late.run_trigger()

    async def overtake() -> None:
        late.clock.advance(seconds=11)
        successor = build_processing_fixture(database, EchoModel())
        successor.clock.time = late.clock.time
        await successor.deliver(message)

    interruption = Interruption(4, overtake, after=True)
    slow = build_processing_fixture(database, EchoModel(), interruption.wrap)
    with pytest.raises(Unavailable):
        await slow.deliver(message)

    assert interruption.done
    assert slow.events.published == []
    assert (await slow.load_conversation()).structured.title == "Old words."


@with_both_models
@pytest.mark.parametrize("version", [NEW, None], ids=["edited", "deleted"])
async def test_late_rows_of_a_crashed_attempt_are_corrected_by_a_redelivery_p29(
    model, database, version
):
    expected = await compute_expected_end(OLD, version, model=model)
    other = build_processing_fixture(database, model)

    class LateVectors(SqliteVectors):
        async def upsert(self, namespace: str, rows: Any) -> None:
            other.clock.advance(seconds=11)
            await (other.write(version) if version else other.delete())
            await deliver_until_idle(other)
            await super().upsert(namespace, rows)
            raise Crash

    late = build_processing_fixture(
        database,
        model,
        lambda name, port: LateVectors(database) if name == "vectors" else port,
    )
    await late.write(OLD)
    (message,) = await late.run_trigger()
    with pytest.raises(Crash):
        await late.deliver(message)
    before = await other.load_everything()
    await deliver_until_idle(other, message)

    assert before != expected
    assert await other.load_everything() == expected


@pytest.mark.parametrize("version", [OLD, NEW, None], ids=["the same", "edited", "deleted"])
async def test_late_rows_of_a_memory_that_its_owner_deleted_go_with_a_redelivery(database, version):
    other = build_processing_fixture(database, EchoModel())
    stores, index = Stores(other.documents), LibraryIndex(other.vectors)
    memories = stores.memories

    class LateVectors(SqliteVectors):
        async def upsert(self, namespace: str, rows: Any) -> None:
            other.clock.advance(seconds=11)
            [memory] = await memories.list_newest(ALICE, limit=2)
            await delete_memory(memories, index, ALICE, memory.id)
            if version is None:
                await stores.conversations.delete(ALICE, TALK, now=other.clock.now())
            elif version != OLD:
                await other.write(version)
            await deliver_until_idle(other)
            await super().upsert(namespace, rows)
            raise Crash

    late = build_processing_fixture(
        database,
        EchoModel(),
        lambda name, port: LateVectors(database) if name == "vectors" else port,
    )
    await late.write(OLD)
    (message,) = await late.run_trigger()
    with pytest.raises(Crash):
        await late.deliver(message)
    await deliver_until_idle(other, message)

    stored = await memories.list_newest(ALICE, limit=9)
    rows = [name for name in await other.list_row_ids() if name.endswith("#m")]
    assert rows == [f"{ALICE}-{memory.id}#m" for memory in stored]


@pytest.mark.parametrize("version", [NEW, None], ids=["edited", "deleted"])
async def test_late_rows_of_a_failed_attempt_are_corrected_by_a_redelivery_p29(database, version):
    model = RefusingModel()
    expected = await compute_expected_end(*([version] if version else [OLD, None]), model=model)
    other = build_processing_fixture(database, model)

    class LateVectors(SqliteVectors):
        async def upsert(self, namespace: str, rows: Any) -> None:
            await (other.write(version) if version else other.delete())
            await deliver_until_idle(other)
            await super().upsert(namespace, rows)

    late = build_processing_fixture(
        database,
        model,
        lambda name, port: LateVectors(database) if name == "vectors" else port,
    )
    await late.write(OLD)
    (message,) = await late.run_trigger()
    with pytest.raises(Unavailable):
        await late.deliver(message)
    await deliver_until_idle(other, message)

    assert await other.load_everything() == expected


MAX_CALLS = 80
HOMES = ("Bergen", "Bonn")


async def test_a_fact_that_goes_while_it_becomes_true_again_is_a_reason_to_try_again_c63():
    """No other error leaves an attempt, whenever its owner deletes what a changed conversation no longer corrects."""
    for at in range(1, MAX_CALLS):
        is_cut, facts = await correct_no_more(at)
        if not is_cut:
            break
        assert facts == ["User is allergic to peanuts"]
    assert 10 < at < MAX_CALLS - 1
    assert sorted(facts) == ["User is allergic to peanuts", "User lives in Bergen"]


async def correct_no_more(at: int) -> tuple[bool, list[str]]:
    """Change a conversation that corrected a fact, which goes before call number `at`; return whether it did, and all facts."""
    facts = [build_memory_output(f"User lives in {home}", exclusive_key="home") for home in HOMES]
    outputs = map(build_extraction_output, [*facts, build_memory_output()])
    with (
        closing(MemoryDatabase()) as database,
        ScriptedModel(answers=build_script(*outputs)) as model,
    ):
        cut = Interruption(at=0, action=lambda: forget_bergen(world), after=False)
        world = build_processing_fixture(database, model, cut.wrap)
        await world.write(build_test_conversation(id=ConversationId("first")))
        await world.write(build_test_conversation("I live in Bonn. I'm allergic to peanuts."))
        await world.deliver_all()
        await world.write(build_test_conversation("I'm allergic to peanuts."))
        [message] = await world.run_trigger()
        cut.calls, cut.at = 0, at
        with suppress(Unavailable):
            await world.deliver(message)
        await world.deliver(message)
        memories = await world.deps.stores.memories.list_newest(ALICE, limit=9)
        return cut.done, [memory.content for memory in memories]


async def forget_bergen(world: ProcessingFixture) -> None:
    for memory in await Stores(world.documents).memories.list_all(ALICE, limit=9):
        if "Bergen" in memory.content:
            await world.documents.write(Delete(memory_path(ALICE, memory.id)))
