"""Synthetic libraries: seeded conversations whose words are as unevenly common as real ones."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate, product
from pathlib import Path
from typing import Self

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.conversations.conversations import Conversations
from shared.data.search.library_index import LibraryIndex, chunk_id
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.ids import ConversationId, UserId
from tests.fixtures.storage import INDEXES

OWNER = UserId("owner")
TURN_WORDS = 20
QUESTION_WORDS = 6
FIRST_DAY = datetime(2024, 1, 1, 9, tzinfo=UTC)
BATCH_CONVERSATIONS = 20

_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "or", "il")]
_WORDS = ["".join(syllables) for syllables in product(_SYLLABLES, repeat=2)]
_CUMULATIVE_WEIGHTS = list(accumulate(1 / rank for rank in range(1, len(_WORDS) + 1)))
"""By Zipf's law: the second word is half as common as the first."""


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
        id=ConversationId(f"talk-{number}"),
        created_at=start,
        started_at=start,
        finished_at=start + timedelta(minutes=30),
        status="completed",
        transcript_segments=tuple(
            Segment(text=_generate_text(dice, TURN_WORDS), speaker=dice.choice(("Ada", "Ben")))
            for _ in range(turns)
        ),
    )


def _generate_text(dice: random.Random, words: int) -> str:
    return " ".join(dice.choices(_WORDS, cum_weights=_CUMULATIVE_WEIGHTS, k=words))
