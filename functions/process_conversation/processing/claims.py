"""Claims of conversations: leases with a fencing token, checked in each transaction that saves.

Also called: distributed lock, locking.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from shared.data.conversations.announcements import claim_path, parse_claim
from shared.data.conversations.conversation_cache import CachedConversation, ConversationCache
from shared.data.conversations.conversations import conversation_path
from shared.data.conversations.full_documents import make_room
from shared.data.store.codec import dump, load
from shared.domain.conversations.claim import (
    DELETED_HASH,
    LEASE_EXTENSION_INTERVAL,
    Claim,
    acquire,
    extend,
    has_no_writer,
    park,
    record_chunks,
    release,
)
from shared.domain.conversations.conversation import Conversation, content_hash
from shared.domain.failure import Failure
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Document, Set, Update, Write
from shared.ports import Clock, Documents, NewId, Transaction
from shared.resilience.heartbeat import keep_extending
from shared.retrieval.chunking import split_into_chunks

T = TypeVar("T")


class Superseded(Exception):
    """The conversation changed or was deleted, or a newer attempt took over: stop quietly."""


class Claims:
    """Leases: one attempt at a time may write what is derived from a conversation.

    A claim is a document of its own, so that it fires no trigger and outlives a deletion.
    """

    def __init__(
        self,
        documents: Documents,
        clock: Clock,
        new_id: NewId,
        *,
        extension_interval: timedelta = LEASE_EXTENSION_INTERVAL,
    ) -> None:
        self._documents = documents
        self._extension_interval = extension_interval
        self._clock = clock
        self._new_id = new_id
        self._cache = ConversationCache()

    async def acquire(
        self, uid: UserId, conversation_id: ConversationId, *, message_hash: str, wipes: int = 0
    ) -> Conversation | Claim:
        """Claim the conversation of a message and return it; one that is done comes without a claim.

        There were `wipes` of all memories so far: what is read now was said before the next one.

        For a deleted conversation the claim alone is returned. One that is done is claimed all the
        same if an earlier delivery of this message (the same `message_hash`) died while it wrote to
        the index. A client's document without room for what we add is stored in parts.
        Raises Unavailable while another attempt works on this content, and MalformedDocument.
        """
        path = conversation_path(uid, conversation_id)
        stored_claim_path = claim_path(uid, conversation_id)
        attempt = self._new_id()

        async def work(tx: Transaction) -> Conversation | Claim:
            document, claim_document = await tx.get_many([path, stored_claim_path])
            previous = parse_claim(claim_document)
            conversation = load(Conversation, document) if document else None
            if conversation and is_done(conversation) and has_no_writer(previous, message_hash):
                tx.write(*build_settling(stored_claim_path, previous))
                return replace(conversation, held_by=None)
            room: Mapping[str, Any] = {}
            if document and conversation:
                conversation, room, writes = make_room(path, conversation, document.fields)
                tx.write(*writes)
            claim = acquire(
                previous,
                attempt=attempt,
                content_hash=content_hash(conversation) if conversation else DELETED_HASH,
                message_hash=message_hash,
                now=self._clock.now(),
                wipes=wipes,
            )
            if conversation is None:
                tx.write(Set(stored_claim_path, dump(claim)))
                return claim
            claimed = _apply_claim(conversation, claim)
            tx.write(Set(stored_claim_path, dump(require_claim(claimed))))
            is_shown_as_new = conversation.status == "processing" and conversation.failure is None
            if not is_shown_as_new or conversation.listed_at is None or room:
                changes = {"status": "processing", "failure": None, "listed_at": self._clock.now()}
                tx.write(Update(path, {**changes, **room}))
            return claimed

        return await self._documents.transaction(work)

    async def take_over(self, uid: UserId, conversation_id: ConversationId) -> Claim | None:
        """Keep the attempts so far from storing anything more; return the claim, None where there is none.

        Raises Superseded while one of them holds it.
        """
        path = claim_path(uid, conversation_id)

        async def work(tx: Transaction) -> Claim | None:
            claim = parse_claim(await tx.get(path))
            if claim is None:
                return None
            if claim.lease_until > self._clock.now():
                raise Superseded
            taken_over = replace(claim, attempt=self._new_id())
            tx.write(Set(path, dump(taken_over)))
            return taken_over

        return await self._documents.transaction(work)

    async def run_on_same_text(
        self,
        uid: UserId,
        claimed: Conversation,
        work: Callable[[Transaction, Claim, CachedConversation], Awaitable[T]],
    ) -> T:
        """Do as run_fenced(), on the conversation as it is stored now. Raises Superseded also if its text changed."""
        paths = [conversation_path(uid, claimed.id), claim_path(uid, claimed.id)]

        async def work_if_current(tx: Transaction) -> T:
            document, claim_document = await tx.get_many(paths)
            stored_claim = _require_held(claim_document, claimed)
            for current in self._cache.decode_all([document]):
                if stored_claim.content_hash == current.content_hash:
                    return await work(tx, stored_claim, current)
            raise Superseded

        return await self._documents.transaction(work_if_current)

    async def run_fenced(
        self,
        uid: UserId,
        claimed: Conversation,
        work: Callable[[Transaction, Claim], Awaitable[T]],
    ) -> T:
        """Run `work` in a transaction that checks the fencing token. Raises Superseded.

        The conversation may have changed or be deleted: the attempt that follows takes the claim over,
        and corrects what was stored.
        """
        path = claim_path(uid, claimed.id)

        async def work_if_claimed(tx: Transaction) -> T:
            return await work(tx, _require_held(await tx.get(path), claimed))

        return await self._documents.transaction(work_if_claimed)

    def keep_extending(
        self, uid: UserId, conversation_id: ConversationId, attempt: str
    ) -> AbstractAsyncContextManager[None]:
        """Extend the leases of an attempt until the block is left."""
        return keep_extending(
            partial(self.extend, uid, conversation_id, attempt),
            every_s=self._extension_interval.total_seconds(),
        )

    async def extend(self, uid: UserId, conversation_id: ConversationId, attempt: str) -> None:
        """Extend the leases of a living attempt; one that was replaced holds none."""
        path = claim_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            stored_claim = parse_claim(await tx.get(path))
            if stored_claim is not None:
                tx.write(Set(path, dump(extend(stored_claim, attempt, self._clock.now()))))

        await self._documents.transaction(work)

    async def park(self, uid: UserId, claimed: Conversation, outage: Failure) -> datetime:
        """End an attempt during an outage; return when the next is due. Raises Superseded.

        An owner who used up a day is told so.
        """

        async def work(
            tx: Transaction, stored_claim: Claim, current: CachedConversation
        ) -> datetime:
            now = self._clock.now()
            claim = park(stored_claim, require_claim(claimed), now, outage)
            tx.write(Set(claim_path(uid, claimed.id), dump(claim)))
            changes: dict[str, Any] = {"waiting_since": current.conversation.waiting_since or now}
            if claim.exhausted_budget == "day":
                changes |= {"failure": outage.detail, "failure_reason": outage.reason}
            tx.write(Update(conversation_path(uid, claimed.id), changes))
            assert claim.due_at is not None, "park() set it"
            return claim.due_at

        return await self.run_on_same_text(uid, claimed, work)

    async def release(
        self,
        uid: UserId,
        conversation_id: ConversationId,
        claim: Claim,
        outage: Failure | None = None,
    ) -> None:
        """End an attempt early: the next may begin at once, and repairs the index."""
        path = claim_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            stored_claim = parse_claim(await tx.get(path))
            tx.write(Set(path, dump(release(stored_claim, claim, self._clock.now(), outage))))

        await self._documents.transaction(work)


def require_claim(claimed: Conversation) -> Claim:
    assert claimed.held_by is not None, "acquire() set it"
    return claimed.held_by


def is_done(conversation: Conversation) -> bool:
    is_completed = conversation.status == "completed"
    return is_completed and conversation.processed_hash == content_hash(conversation)


def build_settling(path: str, claim: Claim | None) -> list[Write]:
    """Return the write after which the sweep leaves a conversation alone."""
    if claim is None or claim.due_at is None:
        return []
    return [Update(path, {"due_at": None, "waits": 0})]


def _apply_claim(conversation: Conversation, claim: Claim) -> Conversation:
    """Return the claimed conversation, with as many chunks as the index may hold of it so far.

    Its claim records those to come, too; a text that stands in parts is not read yet.
    """
    chunk_count = len(split_into_chunks(conversation.named_segments))
    return replace(
        conversation,
        status="processing",
        held_by=record_chunks(claim, chunk_count),
        chunk_count=claim.chunk_count,
    )


def _require_held(document: Document | None, claimed: Conversation) -> Claim:
    """Return the stored claim. Raises Superseded unless this attempt holds it."""
    stored_claim = parse_claim(document)
    if stored_claim is None or stored_claim.attempt != require_claim(claimed).attempt:
        raise Superseded
    return stored_claim
