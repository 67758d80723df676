"""Merging of parts: what was said in the turns that two parts share comes once, in whatever words."""

from datetime import UTC, datetime

import pytest

from functions.process_conversation.processing.merge_parts import (
    MAX_MERGED_LENGTH,
    MAX_MERGED_OVERVIEW_CHARS,
    PartContent,
    PartWords,
    merge_memories,
    merge_structures,
    merge_topics,
)
from functions.process_conversation.processing.model_outputs import MemoryOutput
from shared.domain.conversations.conversation import Event, ExtractedItem, Structured, Topics
from tests.fixtures.processing import build_memory_output

FRIDAY = datetime(2026, 3, 6, 17, tzinfo=UTC)
MONDAY = datetime(2026, 3, 9, 17, tzinfo=UTC)


def build_lines(*texts):
    return [{"segment": n, "text": text} for n, text in enumerate(texts)]


def build_part(*texts, overlap=(), topics=(), **structured):
    return PartContent(
        structured=Structured(**structured),
        topics=Topics(topics=topics),
        words=PartWords(build_lines(*texts), build_lines(*overlap)),
    )


def merge_tasks(first, second, *, before="", shared, after=""):
    """Return the tasks of two parts that share some turns."""
    parts = [
        build_part(before, shared, action_items=(first,)),
        build_part(after, overlap=[shared], action_items=(second,)),
    ]
    return [*merge_structures(parts).action_items]


def build_task(description, **fields):
    return ExtractedItem(description=description, **fields)


@pytest.mark.parametrize(
    ("first", "second", "shared", "kept"),
    [
        (
            "Send Mara the contract",
            "Send the contract to Mara by Friday",
            "Can you send Mara the contract by Friday?",
            ["Send the contract to Mara by Friday"],
        ),
        (
            "Call the plumber about the boiler",
            "Ring the plumber about the boiler",
            "So I call the plumber about the boiler.",
            ["Call the plumber about the boiler"],
        ),
        (
            "Den Vertrag an Mara schicken",
            "Mara den Vertrag schicken",
            "Schickst du Mara den Vertrag?",
            ["Den Vertrag an Mara schicken"],
        ),
        ("给王丽寄合同", "把合同寄给王丽", "你能把合同寄给王丽吗？", ["把合同寄给王丽"]),
    ],
)
def test_a_task_of_the_shared_turns_comes_once(first, second, shared, kept):
    merged = merge_tasks(build_task(first), build_task(second), shared=shared)

    assert [item.description for item in merged] == kept


@pytest.mark.parametrize(
    ("first", "second", "texts"),
    [
        (
            build_task("Send Mara the contract"),
            build_task("Send Ben the contract"),
            {"shared": "Send Mara the contract, and Ben too."},
        ),
        (
            build_task("Send Mara the contract"),
            build_task("Send Ben the contract"),
            {"shared": "Send Mara the contract.", "after": "And send it to Ben as well."},
        ),
        (
            build_task("Call the plumber"),
            build_task("Call the plumber again"),
            {"shared": "It was a nice day.", "before": "Call the plumber.", "after": "Call again."},
        ),
        (
            build_task("Send Mara the contract", due_at=FRIDAY),
            build_task("Send the contract to Mara", due_at=MONDAY),
            {"shared": "Send Mara the contract."},
        ),
        (
            build_task("Send the contract", owner="other", owner_name="Ben"),
            build_task("Send the contract soon", owner="other", owner_name="Mara"),
            {"shared": "Send the contract soon."},
        ),
    ],
)
def test_other_tasks_stay_apart(first, second, texts):
    assert merge_tasks(first, second, **texts) == [first, second]


def test_what_the_answer_tells_is_added_to_the_task_of_the_question():
    asked = build_task("Send Mara the contract", owner="unknown")
    answered = build_task("Send Mara the contract", owner="me", due_at=FRIDAY)

    merged = merge_tasks(asked, answered, shared="Will you send Mara the contract?", after="Sure.")

    assert merged == [answered]


def test_an_event_comes_once_in_other_words():
    events = [
        Event(title="Meeting with Bo", start=FRIDAY),
        Event(title="Bo meeting", start=FRIDAY),
        Event(title="Dinner", start=FRIDAY),
        Event(title="Meeting with Bo", start=MONDAY),
    ]
    parts = [build_part("x", events=(event,)) for event in events]

    merged = merge_structures(parts)

    assert [*merged.events] == [events[0], events[2], events[3]]


def test_a_fact_with_the_same_proof_is_that_of_the_later_part():
    lines = build_lines("I live in Porto and I am vegan.")

    def build(content, evidence):
        output = build_memory_output(content, evidence=evidence)
        return MemoryOutput.model_validate(output)

    earlier = [
        build("User lives in Porto", "I live in Porto"),
        build("User is vegan", "I am vegan"),
    ]
    later = [build("User has moved to Porto", "live in Porto")]

    merged = merge_memories([earlier, later], lines)

    assert [memory.content for memory in merged] == ["User is vegan", "User has moved to Porto"]


def test_the_title_is_that_of_the_part_that_is_most_like_the_others():
    parts = [
        build_part("x", title="Greetings", topics=("weather",)),
        build_part("x", title="The new roof", topics=("roof", "money")),
        build_part("x", title="Money", topics=("money", "roof")),
    ]

    assert merge_structures(parts).title == "The new roof"
    assert merge_structures([parts[0], parts[0]]).title == "Greetings"


def test_a_hundred_parts_have_lists_and_an_overview_of_limited_length():
    parts = [
        build_part(
            "x",
            overview="It was said. " * 40,
            topics=("common", f"topic {n}", f"other {n}"),
            action_items=(build_task(f"Task number {n}"), build_task(f"Another number {n}")),
        )
        for n in range(100)
    ]

    merged = merge_structures(parts)

    assert len(merged.action_items) == MAX_MERGED_LENGTH
    assert len(merged.overview) <= MAX_MERGED_OVERVIEW_CHARS + 2 * len(parts)
    assert all(each.endswith("said.") for each in merged.overview.split("\n\n"))
    topics = merge_topics(parts).topics
    assert len(topics) == MAX_MERGED_LENGTH
    assert topics[0] == "common"
