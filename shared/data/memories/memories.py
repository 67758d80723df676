"""Memories: facts about a user, current and superseded."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from shared.data.conversations.derived import DerivedRecords
from shared.data.store.codec import load, load_all
from shared.data.store.paging import iter_documents
from shared.domain.ids import ConversationId, MemoryId, SessionId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Order, Query, Set, Where, Write
from shared.domain.words import build_wording

_MAX_REPEATED = 200
_MAX_CONFLICTING = 100
_MAX_FACTS_PER_QUERY = 15
"""A query compares with 30 values, and a fact has two: its wording and its aspect."""
_SESSION_PAGE_SIZE = 100
_MAX_WRITES = 400
"""At once; Firestore takes 500."""
IS_CURRENT = Where("valid_to", "==", None)


class Memories(DerivedRecords[Memory]):
    """A user's memories; lists leave out superseded ones."""

    kind = Memory
    collection = "memories"
    noun = "Memory"

    async def list_all(self, uid: UserId, *, limit: int) -> list[Memory]:
        """List newest first, superseded ones included."""
        documents = await self._documents.query(super()._build_newest_query(uid, limit))
        return load_all(Memory, documents)

    async def list_in_categories(
        self, uid: UserId, categories: Sequence[str], *, limit: int, offset: int = 0
    ) -> list[Memory]:
        """Do as list_newest(), for memories of these categories alone."""
        is_listed = Where("category", "in", list(categories))
        return await self.list_newest(uid, limit=limit, offset=offset, where=(is_listed,))

    async def count_current(self, uid: UserId) -> int:
        """Count what list_newest() lists in all."""
        return await self._documents.count(replace(self._build_newest_query(uid, 0), limit=None))

    async def list_held(self, uid: UserId, *, now: datetime, limit: int) -> list[Memory]:
        """List those that wait for another conversation, the newest first."""
        query = Query(
            collection=f"users/{uid}/memories",
            where=(Where("valid_to", ">", now),),
            order_by=(Order("valid_to", "desc"),),
            limit=limit,
        )
        documents = await self._documents.query(query)
        return [memory for memory in load_all(Memory, documents) if memory.is_held]

    async def list_valid(self, uid: UserId, *, now: datetime, limit: int) -> list[Memory]:
        """List by one query what ends after `now`, held ones above all, then current ones, the newest first."""
        query = Query(
            collection=f"users/{uid}/memories",
            any_of=(IS_CURRENT, Where("valid_to", ">", now)),
            order_by=(Order("valid_to", "desc"), Order("created_at", "desc")),
            limit=limit,
        )
        return load_all(Memory, await self._documents.query(query))

    async def get_many(self, uid: UserId, ids: Sequence[MemoryId]) -> dict[MemoryId, Memory]:
        """Return those that exist, by their ids."""
        documents = await self._documents.get_many([memory_path(uid, name) for name in ids])
        return {memory.id: memory for memory in load_all(Memory, documents)}

    async def list_superseded_by(self, uid: UserId, ids: Sequence[MemoryId]) -> list[Memory]:
        """Return the memories that these superseded, at most 100 for 30 ids."""
        return await self.list_by_values(uid, "superseded_by", ids)

    async def list_repeated_in(self, uid: UserId, conversation_id: ConversationId) -> list[Memory]:
        """Return the memories of other conversations that this one repeats, at most 200."""
        mentions = Where("seen_in", "array_contains", conversation_id)
        query = Query(collection=f"users/{uid}/memories", where=(mentions,), limit=_MAX_REPEATED)
        return load_all(Memory, await self._documents.query(query))

    async def iter_of_session(self, uid: UserId, session_id: SessionId) -> AsyncIterator[Memory]:
        """Yield the facts that were said in a chat."""
        of_session = Where("session_id", "==", session_id)
        query = Query(
            collection=f"users/{uid}/memories", where=(of_session,), limit=_SESSION_PAGE_SIZE
        )
        async for document in iter_documents(self._documents, query):
            yield load(Memory, document)

    async def pass_on(self, uid: UserId, memory: Memory) -> None:
        """Give a fact of a chat to the first recording that repeats it. Raises NotFound."""
        first, *others = memory.seen_in
        await self.change(
            uid,
            memory.id,
            conversation_id=first,
            seen_in=tuple(others),
            session_id=None,
            message_id=None,
            evidence="",
        )

    async def has_tombstone(self, uid: UserId, memory_id: MemoryId) -> bool:
        """Tell whether the owner deleted the memory that an app or a chat made under this id."""
        return await self._documents.get(forgotten_path(uid, memory_id)) is not None

    def id_tombstone(self, uid: UserId, memory_id: MemoryId) -> Write:
        """Return the write that keeps an app, or the end of a stretch, from bringing a memory back."""
        return Set(forgotten_path(uid, memory_id), {"of": self.collection})

    async def delete_many(self, deletions: Sequence[Sequence[Write]]) -> None:
        """Make the writes of many deletions, each whole, as many at once as the store takes."""
        for writes in _pack(deletions):
            await self._documents.write(*writes)

    async def find_conflicting(self, uid: UserId, facts: Sequence[Memory]) -> list[Memory]:
        """Return current memories that repeat these facts or concern the same aspect, at most 100 for 15 facts."""
        queries = [
            Query(
                collection=f"users/{uid}/memories",
                where=(IS_CURRENT,),
                any_of=_build_conflicts(facts[n : n + _MAX_FACTS_PER_QUERY]),
                limit=_MAX_CONFLICTING,
            )
            for n in range(0, len(facts), _MAX_FACTS_PER_QUERY)
        ]
        found = [document for query in queries for document in await self._documents.query(query)]
        return load_all(Memory, found)

    def is_same(self, stored: Memory, record: Memory) -> bool:
        return stored.content == record.content

    def _build_newest_query(self, uid: UserId, limit: int) -> Query:
        return replace(super()._build_newest_query(uid, limit), where=(IS_CURRENT,))


def _build_conflicts(facts: Sequence[Memory]) -> tuple[Where, ...]:
    """Return the filters of what is said in the words of these facts, or of the same aspects."""
    wordings = sorted({build_wording(fact.content) for fact in facts})
    aspects = sorted({fact.aspect for fact in facts if fact.aspect})
    has_wording, has_aspect = Where("wording", "in", wordings), Where("aspect", "in", aspects)
    return (has_wording, has_aspect) if aspects else (has_wording,)


def _pack(groups: Sequence[Sequence[Write]]) -> Iterator[Sequence[Write]]:
    """Yield groups together, at most _MAX_WRITES in all; a group is never divided."""
    packed: list[Write] = []
    for group in groups:
        if packed and len(packed) + len(group) > _MAX_WRITES:
            yield packed
            packed = []
        packed.extend(group)
    if packed:
        yield packed


def forgotten_path(uid: UserId, name: str) -> str:
    """Return where it stands that the owner deleted a memory or an arc for good."""
    return f"users/{uid}/forgotten/{name}"


def memory_path(uid: UserId, memory_id: MemoryId) -> str:
    return f"users/{uid}/memories/{memory_id}"
