"""Parts of long transcripts: all are read and merged (P26); a task is stored once (P5)."""

from datetime import timedelta
from typing import Any

import pytest

from functions.process_conversation.processing.merge_parts import MAX_MERGED_LENGTH
from functions.process_conversation.processing.structure import MAX_LIST_LENGTH
from shared.domain.conversations.conversation import Segment
from shared.domain.errors import ModelFailed
from shared.domain.ids import ConversationId
from shared.domain.models.model import ModelFacts
from tests.fixtures.processing import (
    ALICE,
    START,
    ProcessingFixture,
    build_extraction_output,
    build_memory_output,
    build_processing_fixture,
    build_test_conversation,
)

WHOLE = "process_conversation/whole"


class BlockReader:
    """Answers each part with one task and one person, named after its first new segment, and all with one title."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    def name(self, role: str) -> str:
        return "reader"

    def describe(self, role: str) -> ModelFacts:
        return ModelFacts(window_tokens=1_000_000)

    async def complete_structured(self, role: str, prompt: Any, schema: Any) -> Any:
        n = prompt.data.get("new_from", 0)
        if prompt.name == WHOLE:
            self.calls.append((prompt.name, n))
            overviews = [part["overview"] for part in prompt.data["parts"]]
            return schema(title="The whole", overview=" ".join(overviews))
        [first_line] = [line for line in prompt.data["transcript"] if line["segment"] == n]
        self.calls.append((prompt.name, n))
        answer = build_extraction_output(
            build_memory_output(
                f"Fact {n}", segment=n, evidence=" ".join(first_line["text"].split()[:3])
            ),
            title=f"Part {n}",
            overview=f"About {n}.",
            category="travel" if n else "work",
            action_items=[{"description": f"Call number {n}"}, {"description": "Buy milk"}],
            people=[f"Person {n}", "Ann"],
        )
        return schema.model_validate(answer)


@pytest.fixture
def reader() -> BlockReader:
    return BlockReader()


@pytest.fixture
def reader_world(database, reader) -> ProcessingFixture:
    return build_processing_fixture(database, reader)


LONG = tuple(Segment(text=f"{n} " + "word " * 18_000, is_user=True) for n in range(20))


async def test_a_long_transcript_is_read_in_parts_and_merged_p26(reader_world, reader):
    await reader_world.deps.stores.conversations.add(
        ALICE, build_test_conversation(transcript_segments=LONG)
    )
    await reader_world.deliver_all()

    stored_structure = (await reader_world.load_conversation()).structured
    assert stored_structure.title == "The whole"
    assert stored_structure.overview == "About 0. About 6. About 12. About 18."
    assert stored_structure.category == "travel"
    assert [item.description for item in stored_structure.action_items] == [
        "Call number 0",
        "Buy milk",
        "Call number 6",
        "Call number 12",
        "Call number 18",
    ]
    topics = (await reader_world.load_conversation()).topics
    assert topics.people == ("Person 0", "Ann", "Person 6", "Person 12", "Person 18")
    assert len(reader.calls) == 5
    facts = await reader_world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert {fact.content for fact in facts} == {"Fact 0", "Fact 6"}  # two of a category


async def test_the_model_output_of_a_part_is_reused_p26(reader_world, reader):
    await reader_world.deps.stores.conversations.add(
        ALICE, build_test_conversation(transcript_segments=LONG)
    )
    await reader_world.deliver_all()
    call_count = len(reader.calls)

    await reader_world.deps.stores.conversations.edit(
        ALICE, build_test_conversation().id, title="Mine"
    )
    await reader_world.deliver_all()

    assert len(reader.calls) == call_count


class BusyReader(BlockReader):
    """Finds as many tasks in each part as are read of one answer, each time others."""

    async def complete_structured(self, role: str, prompt: Any, schema: Any) -> Any:
        if prompt.name == WHOLE:
            raise ModelFailed("too busy", reason="other")
        self.calls.append((prompt.name, 0))
        tasks = [{"description": f"Call {len(self.calls)} {n}"} for n in range(MAX_LIST_LENGTH)]
        return schema.model_validate(build_extraction_output(action_items=tasks))

    def stream(self, *_: Any) -> Any:
        raise NotImplementedError


async def test_the_tasks_of_the_longest_transcript_fit_into_one_commit_with_those_before(database):
    world = build_processing_fixture(database, BusyReader())
    stores = world.deps.stores
    segments = tuple(Segment(text="well " * 9 + "🚀" * 17_000, is_user=True) for _ in range(60))
    talk = build_test_conversation(transcript_segments=segments)
    await stores.conversations.add(ALICE, talk)
    (message,) = await world.run_trigger()

    tasks = []
    for _ in range(2):
        await world.deliver(message)
        assert (await stores.conversations.get_stored(ALICE, talk.id)).status == "completed"
        tasks.append(await stores.action_items.list_for_conversation(ALICE, talk.id))
        await stores.conversations.reopen(ALICE, talk.id, now=world.clock.now())

    assert [len(found) for found in tasks] == [MAX_MERGED_LENGTH] * 2
    assert not {task.id for task in tasks[0]} & {task.id for task in tasks[1]}


async def test_a_task_that_is_open_elsewhere_is_not_stored_again_p5(reader_world):
    await reader_world.write(build_test_conversation("One."))
    await reader_world.deliver_all()
    later = START + timedelta(days=1)
    await reader_world.write(
        build_test_conversation(
            "Two.", id=ConversationId("later"), started_at=later, finished_at=later
        )
    )
    await reader_world.deliver_all()

    items = await reader_world.deps.stores.action_items.list_newest(ALICE, limit=9)
    assert sorted(item.description for item in items) == ["Buy milk", "Call number 0"]
    assert {item.conversation_id for item in items} == {"talk"}


async def test_a_completed_task_can_be_extracted_again_p5(reader_world):
    await reader_world.write(build_test_conversation("One."))
    await reader_world.deliver_all()
    for item in await reader_world.deps.stores.action_items.list_newest(ALICE, limit=9):
        await reader_world.deps.stores.action_items.change(ALICE, item.id, completed=True)
    later = START + timedelta(days=1)
    await reader_world.write(
        build_test_conversation(
            "Two.", id=ConversationId("later"), started_at=later, finished_at=later
        )
    )
    await reader_world.deliver_all()

    items = await reader_world.deps.stores.action_items.list_newest(ALICE, limit=9)
    assert len(items) == 4
