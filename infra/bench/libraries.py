"""Synthetic libraries: seeded conversations whose words are as unevenly common as real ones."""

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate, product
from pathlib import Path
from typing import Self, TypeVar

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.conversations.conversations import Conversations, conversation_path
from shared.data.search.library_index import LibraryIndex, chunk_id
from shared.data.store.codec import dump
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation, Segment, Speaker
from shared.domain.ids import ActionItemId, ConversationId, MemoryId, PersonId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.people.person import Person
from shared.domain.store.documents import Update
from shared.domain.tasks.action_item import ActionItem
from tests.fixtures.storage import INDEXES

T = TypeVar("T")

OWNER = UserId("owner")
TURN_WORDS = 20
QUESTION_WORDS = 6
FACT_WORDS = 8
FIRST_DAY = datetime(2024, 1, 1, 9, tzinfo=UTC)
BATCH_CONVERSATIONS = 20

_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "or", "il")]
_WORDS = ["".join(syllables) for syllables in product(_SYLLABLES, repeat=2)]
_CUMULATIVE_WEIGHTS = list(accumulate(1 / rank for rank in range(1, len(_WORDS) + 1)))
"""By Zipf's law: the second word is half as common as the first."""

BATCH_SIZE = 200
PERSON = PersonId("p1")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCounts:
    """How many records of each kind a library has."""

    conversations: int
    memories: int
    tasks: int
    people: int

    @property
    def total(self) -> int:
        return self.conversations + self.memories + self.tasks + self.people


class GeneratedLibrary:
    """A user's conversations in a DATA_DIR, stored and indexed as production does."""

    def __init__(self, data: Path) -> None:
        self._database = SqliteDatabase(data / "keepsake.db")
        self.documents = SqliteDocuments(self._database, INDEXES)
        self.vectors = SqliteVectors(self._database)
        self._chunks: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    async def fill(self, count: int, *, turns: int, tick: Callable[[], None]) -> int:
        """Add `count` conversations, the same each time; returns the number of their chunks."""
        dice = random.Random(count)  # noqa: S311 - no secret
        for start in range(0, count, BATCH_CONVERSATIONS):
            numbers = range(start, min(start + BATCH_CONVERSATIONS, count))
            await asyncio.gather(
                *(self._put(_generate_conversation(dice, n, turns)) for n in numbers)
            )
            tick()
        return len(self._chunks)

    async def add_records(self, counts: RecordCounts) -> None:
        """Add memories with their rows, tasks, and people, of whom PERSON speaks in each tenth conversation."""
        stores, dice = Stores(self.documents), random.Random(1)  # noqa: S311 - no secret
        people = [_generate_person(n) for n in range(counts.people)]
        tasks = [_generate_task(dice, n) for n in range(counts.tasks)]
        memories = [_generate_memory(dice, n) for n in range(counts.memories)]
        for person_batch in split(people):
            await stores.people.add_all(OWNER, person_batch)
        for task_batch in split(tasks):
            await stores.action_items.add_all(OWNER, task_batch)
        for memory_batch in split(memories):
            await stores.memories.add_all(OWNER, memory_batch)
            await LibraryIndex(self.vectors).put_memories(OWNER, memory_batch)
        speaker = dump(Speaker(name=people[1].name, person_id=PERSON))
        changes = {"speakers": {"Ada": speaker}, "person_ids": [PERSON]}
        for numbers in split(range(0, counts.conversations, 10)):
            await self.documents.write(
                *(Update(conversation_path(OWNER, _build_id(n)), changes) for n in numbers)
            )

    async def copy_rows(self, users: int, *, tick: Callable[[], None]) -> None:
        """Copy the user's chunks to so many other users."""
        rows = list((await self.vectors.fetch(OWNER, self._chunks)).values())
        for number in range(users):
            await self.vectors.upsert(f"other-{number}", rows)
            tick()

    async def _put(self, conversation: Conversation) -> None:
        size = conversation.count_text_bytes()
        await Conversations(self.documents).add(OWNER, replace(conversation, text_bytes=size))
        count = await LibraryIndex(self.vectors).put(OWNER, conversation)
        self._chunks += [chunk_id(OWNER, conversation.id, n) for n in range(count)]


def generate_questions(count: int) -> list[str]:
    dice = random.Random(count)  # noqa: S311 - no secret
    return [_generate_text(dice, QUESTION_WORDS) for _ in range(count)]


def _generate_conversation(dice: random.Random, number: int, turns: int) -> Conversation:
    start = FIRST_DAY + timedelta(hours=number)
    return Conversation(
        id=_build_id(number),
        created_at=start,
        started_at=start,
        finished_at=start + timedelta(minutes=30),
        status="completed",
        transcript_segments=tuple(
            Segment(text=_generate_text(dice, TURN_WORDS), speaker=dice.choice(("Ada", "Ben")))
            for _ in range(turns)
        ),
    )


def _build_id(number: int) -> ConversationId:
    return ConversationId(f"talk-{number}")


def _generate_person(number: int) -> Person:
    at = FIRST_DAY + timedelta(hours=number)
    return Person(id=PersonId(f"p{number}"), name=f"Person {number}", created_at=at, updated_at=at)


def _generate_task(dice: random.Random, number: int) -> ActionItem:
    at, text = FIRST_DAY + timedelta(hours=number), _generate_text(dice, FACT_WORDS)
    return ActionItem(id=ActionItemId(f"t{number}"), description=text, created_at=at, updated_at=at)


def _generate_memory(dice: random.Random, number: int) -> Memory:
    at, text = FIRST_DAY + timedelta(hours=number), _generate_text(dice, FACT_WORDS)
    return Memory(
        id=MemoryId(f"m{number}"), content=text, category="system", created_at=at, updated_at=at
    )


def split(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield batches of as many as are written or read at once."""
    return (items[n : n + BATCH_SIZE] for n in range(0, len(items), BATCH_SIZE))


def _generate_text(dice: random.Random, words: int) -> str:
    return " ".join(dice.choices(_WORDS, cum_weights=_CUMULATIVE_WEIGHTS, k=words))
