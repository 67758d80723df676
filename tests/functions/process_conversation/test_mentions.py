"""Mentions of a fact: a conversation that repeats it no more is taken away from it."""

from typing import Any

import pytest

from functions.process_conversation.processing.derived_writes import remove_mentions
from shared.data.store.codec import dump
from shared.domain.ids import ConversationId, MemoryId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Delete, Document, Update
from tests.fixtures.processing import START, TALK

PATH = "users/alice/memories/m"


@pytest.mark.parametrize(
    ("origin", "seen_in", "expected"),
    [
        ("other", ["talk", "third"], {"seen_in": ["third"]}),
        ("other", ["third"], None),
        ("talk", ["third"], {"conversation_id": "third", "seen_in": []}),
        ("talk", [], "deleted"),
    ],
)
def test_a_fact_forgets_a_conversation_also_where_it_passed_to_it_meanwhile(
    origin: str, seen_in: list[str], expected: Any
) -> None:
    memory = Memory(
        id=MemoryId("m"),
        content="User likes tea",
        category="system",
        created_at=START,
        updated_at=START,
        conversation_id=ConversationId(origin),
        seen_in=tuple(map(ConversationId, seen_in)),
    )
    document = Document(path=PATH, fields=dump(memory), version="1")

    writes = list(remove_mentions([document, None], TALK))

    match expected:
        case None:
            assert writes == []
        case "deleted":
            assert writes == [Delete(PATH, "1")]
        case _:
            [write] = writes
            assert isinstance(write, Update)
            assert expected.items() <= write.changes.items()
