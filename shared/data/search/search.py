"""Search over a user's conversations and memories: by words and, with an embedder, by meaning.

Also called: hybrid search, semantic search, vector search, retrieval-augmented generation.
"""

import asyncio
import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from shared import telemetry
from shared.data.conversations.conversation_cache import CachedConversation, ConversationCache
from shared.data.conversations.conversation_lists import MAX_TEXT_BYTES
from shared.data.conversations.conversations import Conversations, conversation_path
from shared.data.memories.memories import memory_path
from shared.data.people.people import People
from shared.data.search.dense_vectors import DenseVectors
from shared.data.search.library_index import list_row_ids, memory_hash, name_key
from shared.data.search.ranking import (
    KeptRankings,
    RankedRow,
    RankedRows,
    Ranking,
    build_ranked_rows,
)
from shared.data.store.codec import load_all
from shared.domain.conversations.conversation import Conversation
from shared.domain.ids import ConversationId, MemoryId, PersonId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.vectors import Filter, Hit, SparseVector
from shared.domain.value import value
from shared.ports import Documents, Embedder, Vectors
from shared.retrieval.fusion import fuse_ranks, fuse_scores
from shared.retrieval.packing import Passage, TurnScores, build_passage, choose_excerpts
from shared.retrieval.query import (
    ParsedQuery,
    list_name_words,
    parse_query,
    rescore,
    select_strong,
)
from shared.retrieval.sparse import build_speaker_vector, person_key
from shared.retrieval.support import add_support
from shared.retrieval.terms import tokenize, tokenize_in
from shared.spans import open_retrieval

MAX_ROWS_PER_QUERY = 200
"""Rows of one query: with terms and metadata, they fit into Pinecone's answer of at most 4 MB."""
MAX_QUERIES = 3
MAX_RANKED = 50
"""Conversations that are looked for before a ranking is cut into pages."""
OVERFETCH = 10
"""Further candidates, read where some of the best were deleted or edited since."""
MAX_PASSAGES = 3
SUMMARY_WEIGHT = 0.7
"""Weight of a summary beside turns, whose words it has all."""


@value
class Filters:
    """Filters of a search; `start` is included, `end` is not.

    One of the `people` speaks or is mentioned, and one of the `topics` fits; empty means any.
    """

    start: datetime | None = None
    end: datetime | None = None
    people: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


NO_FILTERS = Filters()
_Candidate = tuple[Conversation, Sequence[RankedRow]]


@value
class FoundConversation:
    """A conversation with its transcript and the scores of its matching turns.

    No turns where only its summary matched. `score`: fused score of its best row, higher is closer.
    """

    conversation: Conversation
    score: float
    turns: TurnScores

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The best passages, best first, for people to read."""
        count = len(self.conversation.transcript_segments)
        stretches = choose_excerpts(self.turns, count=count, limit=MAX_PASSAGES)
        return tuple(
            build_passage(stretch, self.conversation.name_segments(stretch))
            for stretch in stretches
        )


@value
class SearchResult:
    """Conversations, best first; with `fallback_without_filters`, of any people and topics.

    `has_more`: some were left out whose words fit about as well as the best ones'. `total` is how many are on all
    pages, where pages are asked for.
    """

    conversations: list[FoundConversation]
    fallback_without_filters: bool = False
    has_more: bool = False
    total: int = 0


@value
class FoundMemories:
    """Memories, best first; `has_more` as of conversations."""

    memories: list[Memory]
    has_more: bool


@value
class _Ranked:
    """The rows of a search, and which conversations fit about as well as the best one by their words."""

    rows: RankedRows
    strong: Container[ConversationId]


class Search:
    """Makes one query of the people, one of the vectors, then one read of the documents; rarely a second.

    A row counts only while the document it was made from is unchanged. A conversation that is being
    processed anew, after an edit, is found by the words of the question that stand in it now.
    """

    def __init__(
        self, documents: Documents, vectors: Vectors, embedder: Embedder | None = None
    ) -> None:
        self._dense_vectors = DenseVectors(vectors, embedder)
        self._documents = documents
        self._conversations = Conversations(documents)
        self._people = People(documents)
        self._cache = ConversationCache()
        self._kept_rankings = KeptRankings(documents)
        self._vectors = vectors

    async def search_conversations(
        self,
        uid: UserId,
        query: str,
        *,
        filters: Filters = NO_FILTERS,
        limit: int,
    ) -> list[FoundConversation]:
        """Return the conversations that pass the filters, best first, each once."""
        return (await self._find(uid, query, filters, limit)).conversations

    async def _find(self, uid: UserId, query: str, filters: Filters, limit: int) -> SearchResult:
        ranked = await self._rank(uid, query, filters, limit)
        candidates = await self._load_with_overfetch(uid, query, ranked.rows, limit)
        conversations = await self._complete(uid, candidates, limit)
        shown = {found.conversation.id for found in conversations}
        others = [name for name in [*ranked.rows][limit:] if name not in shown]
        return SearchResult(
            conversations=conversations,
            has_more=any(name in ranked.strong for name in others),
        )

    async def search_page(
        self,
        uid: UserId,
        query: str,
        *,
        filters: Filters,
        offset: int,
        limit: int,
        now: datetime,
    ) -> SearchResult:
        """Return the hits at an offset, best first, with how many there are; fall back as below.

        All pages come from the ranking of the first one, which is kept for minutes: what is stored or
        embedded meanwhile moves no hit. One that is deleted or edited meanwhile leaves a gap. Beyond
        MAX_TEXT_BYTES they come without transcript, photos and turns.
        """
        search = repr((query, filters))
        kept = await self._kept_rankings.find(uid, search, now) if offset else None
        ranking = kept or await self._rank_all(uid, query, filters)
        ids = list(ranking.rows)[offset : offset + limit]
        reading = self._load_current(uid, query, ranking.rows, ids)
        if kept or len(ranking.rows) <= limit:
            candidates = await reading
        else:
            keeping = self._kept_rankings.put(uid, search, ranking, now)
            candidates, _ = await asyncio.gather(reading, keeping)
        return SearchResult(
            conversations=await self._complete(uid, [*_bound_texts(candidates)], limit),
            fallback_without_filters=ranking.fallback_without_filters,
            total=len(ranking.rows),
        )

    async def _rank_all(self, uid: UserId, query: str, filters: Filters) -> Ranking:
        rows = (await self._rank(uid, query, filters, MAX_RANKED)).rows
        if rows or not (filters.people or filters.topics):
            return Ranking(rows=rows)
        telemetry.add_fields(fallback_without_filters=True)
        others = replace(filters, people=(), topics=())
        rows = (await self._rank(uid, query, others, MAX_RANKED)).rows
        return Ranking(rows=rows, fallback_without_filters=True)

    async def list_spoken(
        self,
        uid: UserId,
        speaker: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int,
        with_segments: bool = False,
    ) -> list[Conversation]:
        """List the conversations in which somebody speaks by start, newest first.

        Long transcripts, which stand in documents of their own, come only `with_segments`.
        """
        filters = Filters(start=start, end=end, people=(speaker,))
        with open_retrieval("conversations"):
            names = await self._build_name_filter(uid, filters)
            vector = build_speaker_vector(speaker, await self._list_people(uid, speaker))
            hits = await self._query_newest(uid, vector, limit, filters, names)
        newest_first = sorted(hits, key=_get_start, reverse=True)
        rows = build_ranked_rows(_group_by_conversation(newest_first))
        candidates = await self._load_with_overfetch(uid, speaker, rows, limit)
        newest = [stored for stored, _ in candidates[:limit]]
        if not with_segments:
            return newest
        return [*filter(None, await self._conversations.load_transcripts(uid, newest))]

    async def _query_newest(
        self, uid: UserId, query: SparseVector, limit: int, filters: Filters, names: Filter
    ) -> list[Hit]:
        """Return rows of summaries, the newest `limit` among them.

        They come by score: where more fit than an answer holds, the later ones are asked for again.
        """
        hits: list[Hit] = []
        for _ in range(MAX_QUERIES):
            where: Filter = {"kind": {"$eq": "summary"}, **_build_time_filter(filters), **names}
            hits = await self._vectors.query_sparse(
                uid, query, limit=MAX_ROWS_PER_QUERY, where=where
            )
            if len(hits) < MAX_ROWS_PER_QUERY:
                break
            least = sorted(map(_get_start, hits), reverse=True)[limit - 1]
            filters = replace(filters, start=datetime.fromtimestamp(least, UTC))
        return hits

    async def _rank(self, uid: UserId, query: str, filters: Filters, limit: int) -> _Ranked:
        """Return the rows of at least `limit` conversations if there are so many, best first.

        A greater limit adds conversations behind the others and changes no order.
        """
        with open_retrieval("conversations"):
            where: Filter = {
                "kind": {"$in": ["summary", "chunk"]},
                **_build_time_filter(filters),
                **await self._build_name_filter(uid, filters),
            }
            (parsed_query, by_words), by_vector = await asyncio.gather(
                self._query_words(uid, query, where),
                self._dense_vectors.query_nearest(
                    uid, query, limit=MAX_ROWS_PER_QUERY, where=where
                ),
            )
            ranked_words = _rank_by_words(parsed_query, by_words)
            windows = _add_found_turns(by_vector, ranked_words)
            fused = fuse_scores(ranked_words, windows, limit=MAX_ROWS_PER_QUERY)
            rows = _group_by_conversation(fused)
            if by_vector:
                rows = add_support(rows)
            if len(by_words) == MAX_ROWS_PER_QUERY:
                await self._add_crowded_out(uid, parsed_query, limit, where, rows)
            strong = _group_by_conversation(select_strong(ranked_words))
            return _Ranked(rows=build_ranked_rows(rows), strong=strong)

    async def _query_words(
        self, uid: UserId, query: str, where: Filter
    ) -> tuple[ParsedQuery, list[Hit]]:
        """Return the question, in which people are known by their present names, and the rows that it finds."""
        people = await self._people.list_by_words(uid, list_name_words(query))
        keys: dict[str, list[str]] = {}
        for person in people:
            for word in person.name_words:
                keys.setdefault(word, []).append(person_key(person.id))
        parsed_query = parse_query(query, keys)
        hits = await self._vectors.query_sparse(
            uid, parsed_query.vector, limit=MAX_ROWS_PER_QUERY, where=where
        )
        return parsed_query, hits

    async def _list_people(self, uid: UserId, name: str) -> list[PersonId]:
        """Return the people who have all words of a name in theirs."""
        words = tokenize(name)
        people = await self._people.list_by_words(uid, words)
        return [person.id for person in people if set(words) <= set(person.name_words)]

    async def _build_name_filter(self, uid: UserId, filters: Filters) -> Filter:
        people = [
            key
            for name in filters.people
            for key in (name_key(name), *map(person_key, await self._list_people(uid, name)))
        ]
        keys = {"people": people, "topics": [*map(name_key, filters.topics)]}
        return {field: {"$in": values} for field, values in keys.items() if values}

    async def _add_crowded_out(
        self,
        uid: UserId,
        query: ParsedQuery,
        limit: int,
        where: Filter,
        rows: dict[ConversationId, list[Hit]],
    ) -> None:
        """Query again, without conversations already found, where long ones crowded out others."""
        for _ in range(MAX_QUERIES - 1):
            if len(rows) >= limit:
                return
            lowest = min((hits[0].score for hits in rows.values()), default=0.0)
            others: Filter = {**where, "conversation_id": {"$nin": sorted(rows)}}
            hits = await self._vectors.query_sparse(
                uid, query.vector, limit=MAX_ROWS_PER_QUERY, where=others
            )
            ranked = [hit.with_score(min(hit.score, lowest)) for hit in _rank_by_words(query, hits)]
            rows.update(_group_by_conversation(ranked))
            if len(hits) < MAX_ROWS_PER_QUERY:
                return

    async def _complete(
        self, uid: UserId, candidates: Sequence[_Candidate], limit: int
    ) -> list[FoundConversation]:
        best = sorted(candidates, key=lambda candidate: -candidate[1][0].score)[:limit]
        whole = await self._conversations.load_transcripts(uid, [stored for stored, _ in best])
        return [
            FoundConversation(
                conversation=conversation,
                score=rows[0].score,
                turns=_score_turns(rows) if conversation.transcript_segments else {},
            )
            for conversation, (_, rows) in zip(whole, best, strict=True)
            if conversation  # of others a part was changed or deleted meanwhile
        ]

    async def search_with_fallback(
        self,
        uid: UserId,
        query: str,
        *,
        filters: Filters,
        limit: int,
    ) -> SearchResult:
        """Search again without people and topics where these leave nothing; times stay.

        A name may be spelled in a way that was not indexed; a time has one spelling.
        """
        found = await self._find(uid, query, filters, limit)
        if found.conversations or not (filters.people or filters.topics):
            return found
        telemetry.add_fields(fallback_without_filters=True)
        others = await self._find(uid, query, replace(filters, people=(), topics=()), limit)
        return replace(others, fallback_without_filters=True)

    async def search_memories(self, uid: UserId, query: str, *, limit: int) -> list[Memory]:
        """Return memories, best first."""
        return (await self.find_memories(uid, query, limit=limit)).memories

    async def find_memories(self, uid: UserId, query: str, *, limit: int) -> FoundMemories:
        """Return memories, best first, and tell whether others fit as well."""
        where = {"kind": {"$eq": "memory"}}
        parsed_query = parse_query(query)
        with open_retrieval("memories"):
            by_words, by_vector = await asyncio.gather(
                self._vectors.query_sparse(
                    uid, parsed_query.vector, limit=MAX_ROWS_PER_QUERY, where=where
                ),
                self._dense_vectors.query_nearest(uid, query, limit=limit, where=where),
            )
        ranked_words = rescore(parsed_query, by_words)
        hits = fuse_ranks(ranked_words, by_vector)[: limit + OVERFETCH]
        hashes = {_get_memory_id(h): h.metadata["content_hash"] for h in hits}
        documents = await self._documents.get_many([memory_path(uid, name) for name in hashes])
        memories = load_all(Memory, documents)
        current = [memory for memory in memories if _is_up_to_date(memory, hashes[memory.id])]
        outdated = hashes.keys() - {memory.id for memory in current}
        known = outdated | {memory.id for memory in current[:limit]}
        strong = {_get_memory_id(hit) for hit in select_strong(ranked_words)}
        return FoundMemories(memories=current[:limit], has_more=not strong <= known)

    async def measure_nearness(
        self, uid: UserId, texts: Sequence[str], passages: Sequence[str]
    ) -> Sequence[float]:
        """Return how near in meaning each text is to some passage, higher is nearer; nothing where no embedder answers."""
        return await self._dense_vectors.measure_nearness(uid, texts, passages)

    async def _load_with_overfetch(
        self, uid: UserId, query: str, rows: RankedRows, limit: int
    ) -> list[_Candidate]:
        """Read `limit` conversations, and OVERFETCH more where some of these are not current."""
        ids = list(rows)
        candidates = await self._load_current(uid, query, rows, ids[:limit])
        if len(candidates) < limit < len(rows):
            others = ids[limit : limit + OVERFETCH]
            candidates += await self._load_current(uid, query, rows, others)
        return candidates

    async def _load_current(
        self,
        uid: UserId,
        query: str,
        rows: RankedRows,
        ids: Sequence[ConversationId],
    ) -> list[_Candidate]:
        paths = [conversation_path(uid, name) for name in ids]
        entries = await self._cache.load_all(self._documents, paths)
        return [
            (entry.conversation, current_rows)
            for entry in entries
            if not entry.conversation.discarded
            and (current_rows := _select_rows(entry, rows[entry.conversation.id], query))
        ]


def _bound_texts(candidates: Iterable[_Candidate]) -> Iterator[_Candidate]:
    """Leave out the texts for which an answer has no room, before they are read."""
    free_bytes = MAX_TEXT_BYTES
    for conversation, rows in candidates:
        free_bytes -= conversation.count_bytes()
        yield conversation if free_bytes >= 0 else conversation.without_texts(), rows


def _is_up_to_date(memory: Memory, indexed_hash: object) -> bool:
    return memory.is_current and memory_hash(memory) == indexed_hash


def _get_memory_id(hit: Hit) -> MemoryId:
    return MemoryId(str(hit.metadata["memory_id"]))


def _get_start(hit: Hit) -> int:
    return int(str(hit.metadata["created_at"]))


def _build_time_filter(filters: Filters) -> Filter:
    bounds: dict[str, int] = {}
    if filters.start:
        bounds["$gte"] = math.floor(filters.start.timestamp())
    if filters.end:
        bounds["$lt"] = math.ceil(filters.end.timestamp())
    return {"created_at": bounds} if bounds else {}


def _rank_by_words(query: ParsedQuery, hits: Sequence[Hit]) -> list[Hit]:
    weighted_hits = [_discount_summary(hit) for hit in rescore(query, hits)]
    return sorted(weighted_hits, key=lambda hit: -hit.score)


def _add_found_turns(windows: Sequence[Hit], by_words: Sequence[Hit]) -> list[Hit]:
    """Return the windows under names of their own, and the turns that words found in them, as close as these."""
    scores = {row_id: hit.score for hit in reversed(windows) for row_id in list_row_ids(hit)}
    turns = [hit.with_score(scores[hit.id]) for hit in by_words if hit.id in scores]
    named = [replace(hit, id=f"{hit.id}+") if "window" in hit.metadata else hit for hit in windows]
    return [*named, *turns]


def _group_by_conversation(hits: Sequence[Hit]) -> dict[ConversationId, list[Hit]]:
    rows: dict[ConversationId, list[Hit]] = {}
    for hit in hits:
        rows.setdefault(ConversationId(str(hit.metadata["conversation_id"])), []).append(hit)
    return rows


def _select_rows(
    entry: CachedConversation, rows: Sequence[RankedRow], query: str
) -> Sequence[RankedRow]:
    """Return the rows of the stored content; while it is not indexed, rows of its text as it is.

    The rows meanwhile are of what was processed, or of an edit in between, whose processing was superseded.
    """
    current = [row for row in rows if row.content_hash == entry.content_hash]
    if current or entry.conversation.processed_hash in (None, entry.content_hash):
        return current
    return list(_find_turns(entry.conversation, rows[0], query))


def _find_turns(conversation: Conversation, row: RankedRow, query: str) -> Iterator[RankedRow]:
    """Yield a row for each turn that has a word of the question."""
    terms = {term for asked in parse_query(query).query_terms for term in asked.shares}
    for number, segment in enumerate(conversation.transcript_segments):
        if not terms.isdisjoint(tokenize_in(segment.text, conversation.language)):
            yield row._replace(turns=(number,))


def _discount_summary(hit: Hit) -> Hit:
    is_summary = hit.metadata["kind"] == "summary"
    return hit.with_score(hit.score * SUMMARY_WEIGHT) if is_summary else hit


def _score_turns(rows: Sequence[RankedRow]) -> TurnScores:
    """Score each turn by the best of its pieces and windows; rows come best first."""
    return {turn: row.score for row in reversed(rows) for turn in row.turns}
