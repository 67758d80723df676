"""Search under evaluation: a library filled by production's processing, and its search."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from functions.process_conversation.processing.process import process
from infra.eval.locomo import Talk, Turn, parse_start
from infra.eval.metrics import BUDGETS, Ranking
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.data.search.library_index import LibraryIndex
from shared.data.search.search import Search
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.ids import ConversationId, UserId
from shared.ports import Documents, Embedder, Vectors
from shared.retrieval.dense_windows import WINDOW_CHARS
from shared.retrieval.packing import ScoredTranscript, pack
from tests.fixtures.processing import build_processing_fixture

OWNER = UserId("owner")
MAX_HITS = 20
"""The most conversations that the tool shows."""


class ProductSearch:
    def __init__(self, search: Search, all_turns: Sequence[Turn]) -> None:
        self._search = search
        self._first = {talk: n for n, talk in reversed(list(enumerate(t.talk for t in all_turns)))}
        self._talks = {to_conversation_id(talk): talk for talk in self._first}

    async def rank(self, question: str) -> Ranking:
        """Search and pack as the chat's tool does, within each budget."""
        hits = await self._search.search_conversations(OWNER, question, limit=MAX_HITS)
        talks = [self._talks[hit.conversation.id] for hit in hits]
        turns = [(hit.conversation.named_segments, hit.turns) for hit in hits]
        return talks, {budget: self._pack_turns(talks, turns, budget) for budget in BUDGETS}

    def _pack_turns(
        self, talks: Sequence[Talk], conversations: Sequence[ScoredTranscript], budget: int
    ) -> set[int]:
        packed = zip(talks, pack(conversations, tokens=budget), strict=True)
        return {
            self._first[talk] + segment
            for talk, passages in packed
            for passage in passages
            for segment in range(passage.first_segment, passage.last_segment + 1)
        }


@asynccontextmanager
async def open_library(
    all_turns: Sequence[Turn],
    tick: Callable[[], None],
    embedder: Embedder | None = None,
    *,
    window_chars: int = WINDOW_CHARS,
) -> AsyncIterator[dict[str, ProductSearch]]:
    """Fill a library, and search it by words and, where there is an embedder, by meanings."""
    async with fill_library(all_turns, tick, embedder, window_chars=window_chars) as library:
        _, documents, vectors = library
        searches = {"words": Search(documents, vectors)}
        if embedder:
            searches["words and meanings"] = Search(documents, vectors, embedder)
        yield {name: ProductSearch(search, all_turns) for name, search in searches.items()}


@asynccontextmanager
async def fill_library(
    all_turns: Sequence[Turn],
    tick: Callable[[], None],
    embedder: Embedder | None,
    *,
    window_chars: int = WINDOW_CHARS,
) -> AsyncIterator[tuple[SqliteDatabase, Documents, Vectors]]:
    """Process every talk as a conversation of one user, deleted when the context ends."""
    with TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder) / "keepsake.db")
        library = build_processing_fixture(database, OfflineModel())
        index = LibraryIndex(library.vectors, embedder, window_chars=window_chars)
        deps = replace(library.deps, index=index)
        for _, turns in groupby(all_turns, key=lambda turn: turn.talk):
            stored = await deps.stores.conversations.add(OWNER, build_conversation(list(turns)))
            await process(deps, OWNER, stored.id)
            tick()
        yield database, library.documents, library.vectors
        database.close()


def build_conversation(turns: Sequence[Turn]) -> Conversation:
    start = parse_start(turns[0].date)
    return Conversation(
        id=to_conversation_id(turns[0].talk),
        created_at=start,
        started_at=start,
        finished_at=start + timedelta(hours=1),
        transcript_segments=tuple(Segment(text=t.text, speaker=t.speaker) for t in turns),
    )


def to_conversation_id(talk: Talk) -> ConversationId:
    return ConversationId(f"{talk[0]}-{talk[1]}")
