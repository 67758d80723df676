"""How a user's conversations and memories are found again by words."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from shared import telemetry
from shared.data.codec import load_all
from shared.data.conversations import Conversations, conversation_path
from shared.data.library_index import INDEX_VERSION, memory_hash, name_key
from shared.data.meanings import Meanings
from shared.data.memories import memory_path
from shared.data.standing import Decoded, Standing
from shared.domain.conversation import Conversation
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memory import Memory
from shared.domain.value import value
from shared.domain.vectors import Filter, Hit, SparseVector
from shared.ports import Documents, Embedder, Vectors
from shared.retrieval.dates.spans import Span
from shared.retrieval.fusion import blended, reciprocal
from shared.retrieval.packing import Passage, Turns, excerpts
from shared.retrieval.query import Query, favoured, parse, ranked

POOL = 200
"""Rows of one look; with their terms and metadata, so many fit into Pinecone's answer of at most 4 MB."""
LOOKS = 3
SPARE = 10
"""So many more are looked at where some of the best were deleted or edited since."""
PASSAGES = 3
SECOND_HAND = 0.7
"""What a summary counts for beside the turns themselves: it has the words of all of them."""


@value
class Filters:
    """What a search is narrowed to; `start` is included, `end` is not.

    One of the `people`, who speak or are spoken of, and one of the `topics`; none means any.
    """

    start: datetime | None = None
    end: datetime | None = None
    people: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


EVERYTHING = Filters()


@value
class FoundConversation:
    """A conversation with its transcript and the turns that were found, by their scores.

    No turns where only its summary matched. `score`: dot product of its best row, higher is closer.
    """

    conversation: Conversation
    score: float
    turns: Turns

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The best places, best first, for people to read."""
        return excerpts(self.conversation.spoken, self.turns, limit=PASSAGES)


@value
class Narrowed:
    """What was found, best first; with `fallback_without_filters`, among all people and topics."""

    found: list[FoundConversation]
    fallback_without_filters: bool = False


class Search:
    """One vector query, then one read of what it names; rarely a second of each.

    A row counts only while the document it was made from stands unchanged.
    """

    def __init__(
        self, documents: Documents, vectors: Vectors, embedder: Embedder | None = None
    ) -> None:
        self._meanings = Meanings(vectors, embedder)
        self._documents = documents
        self._conversations = Conversations(documents)
        self._decoded = Decoded()
        self._vectors = vectors

    async def conversations(
        self,
        uid: UserId,
        query: str,
        *,
        filters: Filters = EVERYTHING,
        named: Span | None = None,
        limit: int,
    ) -> list[FoundConversation]:
        """Return the conversations that pass the filters, best first, each once.

        `named` is a time that the question itself names: what was said then gains by it, and the
        rest is still found, for people also ask later about such a time.
        """
        where: Filter = {"kind": {"$in": ["summary", "chunk"]}, **_passing(filters)}
        by_words, by_meaning = await asyncio.gather(
            self._by_words(uid, parse(query), limit, where, named),
            self._meanings.near(uid, query, limit=POOL, where=where),
        )
        rows = _by_conversation(blended(by_words, by_meaning))
        kept = await self._kept(uid, rows, limit)
        best = sorted(kept, key=lambda found: -found[1][0].score)[:limit]
        whole = await self._conversations.with_transcripts(uid, [stored for stored, _ in best])
        return [
            FoundConversation(conversation=conversation, score=rows[0].score, turns=_turns(rows))
            for conversation, (_, rows) in zip(whole, best, strict=True)
            if conversation  # of others a part was changed or deleted meanwhile
        ]

    async def narrowed(
        self,
        uid: UserId,
        query: str,
        *,
        filters: Filters,
        named: Span | None = None,
        limit: int,
    ) -> Narrowed:
        """Search again without people and topics where these leave nothing; times hold.

        A name may be written in a way that nobody indexed; a time is what it is.
        """
        look = partial(self.conversations, uid, query, named=named, limit=limit)
        found = await look(filters=filters)
        if found or not (filters.people or filters.topics):
            return Narrowed(found=found)
        telemetry.note(fallback_without_filters=True)
        others = await look(filters=replace(filters, people=(), topics=()))
        return Narrowed(found=others, fallback_without_filters=True)

    async def memories(self, uid: UserId, query: str, *, limit: int) -> list[Memory]:
        """Return memories, best first."""
        where = {"kind": {"$eq": "memory"}}
        asked = parse(query)
        by_words, by_meaning = await asyncio.gather(
            self._vectors.query_sparse(uid, asked.vector, limit=POOL, where=where),
            self._meanings.near(uid, query, limit=limit, where=where),
        )
        hits = reciprocal(ranked(asked, by_words), by_meaning)[: limit + SPARE]
        hashes = {MemoryId(str(h.metadata["memory_id"])): h.metadata["content_hash"] for h in hits}
        found = await self._documents.get_many([memory_path(uid, name) for name in hashes])
        memories = load_all(Memory, [document for document in found if document])
        return [memory for memory in memories if _counts(memory, hashes[memory.id])][:limit]

    async def _hits(self, uid: UserId, query: SparseVector, limit: int, where: Filter) -> list[Hit]:
        """Look again, past what was found, where long conversations took the places of others."""
        hits: list[Hit] = []
        for _ in range(LOOKS):
            seen = {str(hit.metadata["conversation_id"]) for hit in hits}
            if len(seen) >= limit:
                break
            others = {"conversation_id": {"$nin": sorted(seen)}} if seen else {}
            more = await self._vectors.query_sparse(
                uid, query, limit=POOL, where={**where, **others}
            )
            hits += more
            if len(more) < POOL:
                break
        return hits

    async def _by_words(
        self, uid: UserId, asked: Query, limit: int, where: Filter, named: Span | None
    ) -> list[Hit]:
        anytime, then = await asyncio.gather(
            self._hits(uid, asked.vector, limit, where),
            self._then(uid, asked.vector, where, named),
        )
        hits = {hit.id: hit for hit in [*anytime, *then]}
        weighed = [_second_hand(hit) for hit in ranked(asked, list(hits.values()))]
        return favoured(weighed, {hit.id for hit in then})

    async def _then(
        self, uid: UserId, query: SparseVector, where: Filter, named: Span | None
    ) -> list[Hit]:
        """Find what was said in the time that a question names; nothing is no reason to stop."""
        if named is None:
            return []
        within = {**where, **_between(named.start, named.end)}
        hits = await self._vectors.query_sparse(uid, query, limit=POOL, where=within)
        telemetry.note(named_time="found" if hits else "nothing then, searched without")
        return hits

    async def _kept(
        self, uid: UserId, rows: Mapping[ConversationId, list[Hit]], limit: int
    ) -> list[tuple[Conversation, list[Hit]]]:
        """Read as many as are wanted, and SPARE more where some of these no longer stand."""
        kept = await self._standing(uid, rows, list(rows)[:limit])
        if len(kept) < limit < len(rows):
            kept += await self._standing(uid, rows, list(rows)[limit : limit + SPARE])
        return kept

    async def _standing(
        self,
        uid: UserId,
        rows: Mapping[ConversationId, list[Hit]],
        ids: Sequence[ConversationId],
    ) -> list[tuple[Conversation, list[Hit]]]:
        paths = [conversation_path(uid, name) for name in ids]
        stored = self._decoded.all(await self._documents.get_many(paths))
        kept = [each for each in stored if not each.conversation.discarded]
        found = [(each.conversation, _fresh(each, rows[each.conversation.id])) for each in kept]
        return [(conversation, fresh) for conversation, fresh in found if fresh]


def _counts(memory: Memory, indexed_hash: object) -> bool:
    return memory.is_current and memory_hash(memory) == indexed_hash


def _passing(filters: Filters) -> Filter:
    names = {"people": filters.people, "topics": filters.topics}
    wanted = {field: {"$in": [name_key(n) for n in some]} for field, some in names.items() if some}
    return {**_between(filters.start, filters.end), **wanted}


def _between(start: datetime | None, end: datetime | None) -> Filter:
    bounds: dict[str, int] = {}
    if start:
        bounds["$gte"] = math.floor(start.timestamp())
    if end:
        bounds["$lt"] = math.ceil(end.timestamp())
    return {"created_at": bounds} if bounds else {}


def _by_conversation(hits: Sequence[Hit]) -> Mapping[ConversationId, list[Hit]]:
    rows: dict[ConversationId, list[Hit]] = {}
    for hit in hits:
        rows.setdefault(ConversationId(str(hit.metadata["conversation_id"])), []).append(hit)
    return rows


def _fresh(standing: Standing, rows: Sequence[Hit]) -> list[Hit]:
    """Keep the rows that were made from what is stored now, as rows are made now."""
    return [
        hit
        for hit in rows
        if hit.metadata["content_hash"] == standing.content_hash
        and hit.metadata.get("index_version") == INDEX_VERSION
    ]


def _second_hand(hit: Hit) -> Hit:
    is_summary = hit.metadata["kind"] == "summary"
    return hit.scored(hit.score * SECOND_HAND) if is_summary else hit


def _turns(rows: Sequence[Hit]) -> Turns:
    """Score each turn by the best of its pieces; rows come best first."""
    chunks = [hit for hit in rows if hit.metadata["kind"] == "chunk"]
    return {int(str(hit.metadata["segment"])): hit.score for hit in reversed(chunks)}
