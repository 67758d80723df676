"""Long transcripts are read in blocks, and nothing of them is lost (P26); tasks stand once (P5)."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.ask import BLOCK_CHARS, blocks
from shared.domain.conversation import Segment
from shared.domain.ids import ConversationId
from tests.functions.process_conversation.world import (
    ALICE,
    MEMORIES,
    START,
    STRUCTURE,
    World,
    memory,
    structure,
    talk,
    world_on,
)


@given(st.lists(st.integers(0, 700_000), max_size=6))
def test_p26_every_segment_stands_in_one_block_that_is_short_enough(sizes):
    said = tuple(Segment(text="x" * size) for size in sizes)

    cut = [block["transcript"] for block in blocks(talk(transcript_segments=said), "UTC")]

    numbers = [line["segment"] for block in cut for line in block]
    assert numbers == list(range(len(sizes)))
    for block in cut:
        assert len(block) < 2 or sum(len(line["text"]) for line in block) <= BLOCK_CHARS


class Reader:
    """Finds in each block one task and one person, named after its first segment."""

    def __init__(self) -> None:
        self.read: list[tuple[str, int]] = []

    def name(self, role: str) -> str:
        return "reader"

    async def structured(self, role: str, prompt: Any, schema: Any) -> Any:
        first = prompt.data["transcript"][0]
        self.read.append((prompt.name, first["segment"]))
        n = first["segment"]
        answers = {
            STRUCTURE: structure(
                title=f"Block {n}",
                overview=f"About {n}.",
                category="travel" if n else "work",
                action_items=[{"description": f"Call number {n}"}, {"description": "Buy milk"}],
                people=[f"Person {n}", "Ann"],
            ),
            MEMORIES: {"memories": [memory(f"Fact {n}", segment=n, evidence=first["text"][:9])]},
        }
        return schema.model_validate(answers[prompt.name])


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def reading(database, reader) -> World:
    return world_on(database, reader)


LONG = tuple(Segment(text=f"{n} " + "word " * 18_000, is_user=True) for n in range(20))


async def test_p26_a_long_transcript_is_read_in_blocks_and_put_together(reading, reader):
    await reading.deps.conversations.add(ALICE, talk(transcript_segments=LONG))
    await reading.settle()

    stored = (await reading.stored()).structured
    assert stored.title == "Block 0"
    assert stored.overview == "About 0.\n\nAbout 6.\n\nAbout 12.\n\nAbout 18."
    assert stored.category == "travel"
    assert [item.description for item in stored.action_items] == [
        "Call number 0",
        "Buy milk",
        "Call number 6",
        "Call number 12",
        "Call number 18",
    ]
    topics = (await reading.stored()).topics
    assert topics.people == ("Person 0", "Ann", "Person 6", "Person 12", "Person 18")
    assert len(reader.read) == 8
    facts = await reading.deps.memories.newest(ALICE, limit=9)
    assert {fact.content for fact in facts} == {"Fact 0", "Fact 6"}  # two of a category


async def test_p26_what_a_model_said_of_a_block_is_kept(reading, reader):
    await reading.deps.conversations.add(ALICE, talk(transcript_segments=LONG))
    await reading.settle()
    asked = len(reader.read)

    await reading.deps.conversations.edit(ALICE, talk().id, title="Mine")
    await reading.settle()

    assert len(reader.read) == asked


async def test_p5_a_task_that_stands_open_elsewhere_is_not_written_again(reading):
    await reading.write(talk("One."))
    await reading.settle()
    later = START + timedelta(days=1)
    await reading.write(
        talk("Two.", id=ConversationId("later"), started_at=later, finished_at=later)
    )
    await reading.settle()

    items = await reading.deps.action_items.newest(ALICE, limit=9)
    assert sorted(item.description for item in items) == ["Buy milk", "Call number 0"]
    assert {item.conversation_id for item in items} == {"talk"}


async def test_p5_a_task_that_is_done_may_come_again(reading):
    await reading.write(talk("One."))
    await reading.settle()
    for item in await reading.deps.action_items.newest(ALICE, limit=9):
        await reading.deps.action_items.change(ALICE, item.id, completed=True)
    later = START + timedelta(days=1)
    await reading.write(
        talk("Two.", id=ConversationId("later"), started_at=later, finished_at=later)
    )
    await reading.settle()

    items = await reading.deps.action_items.newest(ALICE, limit=9)
    assert len(items) == 4
