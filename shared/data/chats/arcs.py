"""Arcs: what the stretches of a user's chats were about."""

from collections.abc import Sequence
from itertools import chain

from shared.data.chats.messages import message_path
from shared.data.memories.memories import forgotten_path, memory_path
from shared.data.store.codec import dump, load, load_all
from shared.data.store.records import Records
from shared.domain.account.profile import Profile
from shared.domain.chats.arc import Arc
from shared.domain.chats.chat import Message
from shared.domain.ids import ArcId, SessionId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Create, Delete, Document, Query, Set, Update, Where, Write
from shared.ports import Transaction

_MAX_DELETED = 100


class Arcs(Records[Arc]):
    """One for each stretch, under an id of its last message; none of a chat that was deleted."""

    kind = Arc
    collection = "arcs"
    noun = "Arc"

    async def find(self, uid: UserId, arc_id: ArcId) -> Arc | None:
        document = await self._documents.get(self.document_path(uid, arc_id))
        return load(Arc, document) if document else None

    async def get_many(self, uid: UserId, arc_ids: Sequence[ArcId]) -> list[Arc]:
        """Return those that exist."""
        paths = [self.document_path(uid, arc_id) for arc_id in arc_ids]
        return load_all(Arc, await self._documents.get_many(paths))

    async def begin(self, uid: UserId, arc: Arc, last: Message) -> Arc | None:
        """Store an arc, once, and return what is stored.

        None where it or its `last` message is gone, or its owner wanted something forgotten meanwhile.
        """
        path = self.document_path(uid, arc.id)

        async def work(tx: Transaction) -> Arc | None:
            profile, message, tombstone, stored = await tx.get_many(
                [f"users/{uid}", message_path(uid, last.id), forgotten_path(uid, arc.id), path]
            )
            if message is None or tombstone is not None or _has_forgotten(profile, arc):
                return None
            if stored is not None:
                return load(Arc, stored)
            tx.write(Create(path, dump(arc)))
            return arc

        return await self._documents.transaction(work)

    async def write_facts(
        self,
        uid: UserId,
        arc: Arc,
        last: Message,
        facts: Sequence[Memory],
        corrections: Sequence[Update],
    ) -> bool:
        """Store facts of a stretch and what they correct, once; False where begin() returns None.

        A fact is left out where its owner deleted it, and a correction where its memory was deleted,
        corrected or taken over by its owner.
        """
        paths = [memory_path(uid, fact.id) for fact in facts]
        tombstone_paths = [forgotten_path(uid, fact.id) for fact in facts]
        corrected_paths = [correction.path for correction in corrections]

        async def work(tx: Transaction) -> bool:
            profile, message = await tx.get_many([f"users/{uid}", message_path(uid, last.id)])
            stored = await tx.get_many(paths)
            tombstones = await tx.get_many(tombstone_paths)
            corrected = await tx.get_many(corrected_paths)
            if message is None or _has_forgotten(profile, arc):
                return False
            new = zip(facts, paths, stored, tombstones, strict=True)
            writes: list[Write] = [
                Set(path, dump(fact.with_wording()))
                for fact, path, known, tombstone in new
                if known is None and tombstone is None
            ]
            open_corrections = zip(corrections, corrected, strict=True)
            writes += [update for update, known in open_corrections if _is_open(known)]
            tx.write(*writes)
            return True

        return await self._documents.transaction(work)

    async def forget(self, uid: UserId, arc_id: ArcId) -> None:
        """Delete an arc for good: its task, repeated, does not bring it back. Raises NotFound."""
        await self.get(uid, arc_id)
        await self._documents.write(*self._build_forgetting(uid, arc_id))

    async def delete_for_session(self, uid: UserId, session_id: SessionId) -> None:
        """Delete all that the stretches of a chat were about."""
        of_session = Where("session_id", "==", session_id)
        query = Query(collection=f"users/{uid}/arcs", where=(of_session,), limit=_MAX_DELETED)
        while documents := await self._documents.query(query):
            await self._documents.write(*(Delete(document.path) for document in documents))

    async def forget_all(self, uid: UserId) -> None:
        query = Query(collection=f"users/{uid}/arcs", limit=_MAX_DELETED)
        while documents := await self._documents.query(query):
            arc_ids = [ArcId(document.id) for document in documents]
            writes = [self._build_forgetting(uid, arc_id) for arc_id in arc_ids]
            await self._documents.write(*chain.from_iterable(writes))

    def _build_forgetting(self, uid: UserId, arc_id: ArcId) -> Sequence[Write]:
        tombstone = Set(forgotten_path(uid, arc_id), {"of": self.collection})
        return Delete(self.document_path(uid, arc_id)), tombstone


def _has_forgotten(profile: Document | None, arc: Arc) -> bool:
    return profile is not None and load(Profile, profile).has_forgotten(arc.started_at)


def _is_open(document: Document | None) -> bool:
    """Tell whether a memory may be corrected."""
    if document is None:
        return False
    memory = load(Memory, document)
    return memory.is_current and not memory.is_user_owned
