"""Long transcripts: while one is processed, the event loop serves others (S4)."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from functions.process_conversation.processing.model_outputs import MAX_LISTED, ExtractionOutput
from shared.domain.conversations.conversation import Conversation, Segment, Speaker
from shared.domain.ids import PersonId
from shared.domain.models.model import ModelFacts
from tests.fakes import ScriptedModel
from tests.fixtures.processing import (
    ALICE,
    ProcessingFixture,
    build_extraction_output,
    build_memory_output,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)

SEGMENTS = 3_000
ANN = {"SPEAKER_01": Speaker(name="Ann", person_id=PersonId("ann"))}
LONG = tuple(
    Segment(text=f"I grow {n} kinds of tea.", speaker=f"SPEAKER_0{n % 2}", is_user=n % 2 == 0)
    for n in range(SEGMENTS)
)
RUN_OF_A_STEP = asyncio.Handle._run.__code__


@contextmanager
def count_calls_by_step() -> Iterator[list[int]]:
    """Count the function calls of each step of the loop: unlike its time they are the same each time."""
    counts = [0]

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is RUN_OF_A_STEP:
            counts.append(0)
        counts[-1] += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        yield counts
    finally:
        sys.setprofile(None)


def build_facts(count: int) -> list[dict[str, Any]]:
    return [
        build_memory_output(f"User grows {n} kinds of tea", segment=n, evidence=LONG[n].text)
        for n in range(0, count, 2)
    ]


async def count_most_calls(world: ProcessingFixture, conversation: Conversation) -> int:
    """Process a conversation and return the calls of the step that makes most."""
    await world.deps.stores.conversations.add(ALICE, conversation)
    with count_calls_by_step() as counts:
        await world.deliver_all()
    assert (await world.load_conversation()).status == "completed"
    await world.delete()
    await world.deliver_all()
    return max(counts)


async def test_no_step_of_the_loop_takes_up_each_segment_of_a_long_transcript_s4(file_database):
    answer = build_extraction_output(*build_facts(40))
    short = build_test_conversation(transcript_segments=LONG[:40], speakers=ANN)
    long = build_test_conversation(transcript_segments=LONG, speakers=ANN)
    script, facts = build_script(answer, answer, answer), ModelFacts(window_tokens=400_000)
    with ScriptedModel(answers=script, facts=facts) as model:
        world = build_processing_fixture(file_database, model)
        await count_most_calls(world, short)  # what happens once in a process is done

        calls = [await count_most_calls(world, conversation) for conversation in (short, long)]

    assert calls[1] - calls[0] < SEGMENTS / 2


def test_an_answer_that_does_not_stop_is_read_to_a_limit_s4():
    names = [f"Person {n}" for n in range(SEGMENTS)]
    tasks = [{"description": name} for name in names]
    answer = build_extraction_output(*build_facts(SEGMENTS), action_items=tasks, people=names)

    read = ExtractionOutput.model_validate(answer)

    assert read.structure is not None
    assert read.memories is not None
    assert read.structure.people == names[:MAX_LISTED]
    assert [item.description for item in read.structure.action_items] == names[:MAX_LISTED]
    assert [fact.content for fact in read.memories] == [
        fact["content"] for fact in build_facts(SEGMENTS)[:MAX_LISTED]
    ]
