"""Who processes a conversation: claimed, saved and completed in transactions that check each other."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from functions.process_conversation.draft import Draft
from shared.data.codec import Malformed, dump, load
from shared.data.conversations import conversation_path, forgotten_path
from shared.data.memories import memory_path
from shared.data.tasks import action_item_path
from shared.domain.conversation import Claim, Conversation, content_hash, said_hash
from shared.domain.documents import Delete, Document, Set, Update
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.domain.memory import Memory
from shared.domain.task import ActionItem
from shared.ports import Clock, Documents, Transaction

LEASE = timedelta(seconds=120)
T = TypeVar("T")


class Superseded(Exception):
    """The conversation changed or is gone, or a newer attempt took over: stop quietly."""


class Claims:
    """One attempt at a time may write what is derived from a conversation.

    Attempts count up for the life of the document, so that a late one never passes for a newer.
    """

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def take(
        self, uid: UserId, conversation_id: ConversationId, *, chunk_count: int = 0
    ) -> Conversation | None:
        """Claim what needs processing; what is done comes back as it is, None if it is gone.

        More chunks than the document knows of are left from an earlier one of this id: then it is
        indexed anew. Raises Unavailable while another attempt works on this content, and Malformed.
        """
        path = conversation_path(uid, conversation_id)

        async def work(tx: Transaction) -> Conversation | None:
            document = await tx.get(path)
            if document is None:
                return None
            conversation = load(Conversation, document)
            if is_done(conversation) and chunk_count <= conversation.chunk_count:
                return conversation
            claimed = replace(
                conversation,
                claim=next_claim(conversation, self._clock.now()),
                status="processing",
                chunk_count=max(conversation.chunk_count, chunk_count),
                failure=None,
            )
            fields = dump(claimed)
            changed = ("claim", "status", "chunk_count", "failure")
            tx.write(Update(path, {name: fields[name] for name in changed}))
            return claimed

        return await self._documents.transaction(work)

    async def save(self, uid: UserId, claimed: Conversation, draft: Draft) -> Draft:
        """Store what was made of it; what the owner wrote, changed or deleted stays so.

        Returns the draft without what was deleted. `chunk_count` is written before the index is, so
        that deleting always reaches every row. Raises Superseded.
        """
        changes = {
            "discarded": draft.discarded,
            "structured": dump(draft.structured),
            "topics": dump(draft.topics),
            "chunk_count": max(claimed.chunk_count, draft.chunk_count),
        }
        derived = _derived(uid, draft.action_items, draft.memories)

        async def work(tx: Transaction, path: str) -> Draft:
            marks = [forgotten_path(path, value.id) for _, value in derived]
            stored = await tx.get_many([*(path for path, _ in derived), *marks])
            gone = {mark.id for mark in stored[len(derived) :] if mark}
            tx.write(Update(path, changes))
            found = [one for one in zip(derived, stored, strict=False) if one[0][1].id not in gone]
            tx.write(*(Set(p, dump(value)) for (p, value), old in found if not _is_owners(old)))
            return draft.without(gone)

        return await self._while_held(uid, claimed, work)

    async def keep(
        self, uid: UserId, claimed: Conversation, stage: str, answer: Mapping[str, Any]
    ) -> None:
        """Store a model's answer beside the conversation. Raises Superseded."""

        async def work(tx: Transaction, path: str) -> None:
            fields = {**answer, "said_hash": said_hash(claimed)}
            tx.write(Set(f"{path}/answers/{stage}", fields))

        await self._while_held(uid, claimed, work)

    async def kept(
        self, uid: UserId, claimed: Conversation, stage: str
    ) -> Mapping[str, Any] | None:
        """Return what keep() stored for the same words."""
        path = f"{conversation_path(uid, claimed.id)}/answers/{stage}"
        document = await self._documents.get(path)
        said = document.fields.get("said_hash") if document else None
        return document.fields if document and said == said_hash(claimed) else None

    async def complete(self, uid: UserId, claimed: Conversation, draft: Draft) -> None:
        """Remove what an earlier content said, and finish. Raises Superseded."""
        changes = {
            **self._released(),
            "status": "completed",
            "processed_hash": _claim(claimed).content_hash,
            "chunk_count": draft.chunk_count,
        }
        stale = [path for path, _ in _derived(uid, draft.stale_items, draft.stale_memories)]

        async def work(tx: Transaction, path: str) -> None:
            stored = await tx.get_many(stale)
            tx.write(Update(path, changes))
            tx.write(*(Delete(old.path) for old in stored if old and not _is_owners(old)))

        await self._while_held(uid, claimed, work)

    async def fail(self, uid: UserId, claimed: Conversation, reason: str) -> None:
        """Say why it cannot be processed; what was stored before stays as it was."""
        changes = {**self._released(), "status": "failed", "failure": reason, "discarded": False}

        async def work(tx: Transaction, path: str) -> None:
            tx.write(Update(path, changes))

        await self._while_held(uid, claimed, work)

    async def release(self, uid: UserId, claimed: Conversation) -> None:
        """Let the next attempt begin at once. Raises Superseded."""

        async def work(tx: Transaction, path: str) -> None:
            tx.write(Update(path, self._released()))

        await self._while_held(uid, claimed, work)

    async def reopen(self, uid: UserId, conversation_id: ConversationId) -> bool:
        """Have it processed again, and stop every attempt under way; False if it is gone."""
        path = conversation_path(uid, conversation_id)

        async def work(tx: Transaction) -> bool:
            document = await tx.get(path)
            if document is not None:
                conversation = load(Conversation, document)
                claim = _claim_after(conversation, lease_until=self._clock.now())
                tx.write(Update(path, {"claim": dump(claim), "processed_hash": None}))
            return document is not None

        return await self._documents.transaction(work)

    async def refuse(self, uid: UserId, conversation_id: ConversationId) -> None:
        """Mark a document that cannot be read; its next good version is processed as any other."""
        path = conversation_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            document = await tx.get(path)
            if document is not None and is_malformed(document):
                tx.write(Update(path, {"status": "failed", "failure": "malformed document"}))

        await self._documents.transaction(work)

    async def holds(self, uid: UserId, claimed: Conversation) -> bool:
        document = await self._documents.get(conversation_path(uid, claimed.id))
        return _is_held(document, _claim(claimed))

    def _released(self) -> dict[str, Any]:
        """End the lease and keep the count of attempts."""
        return {"claim.lease_until": self._clock.now()}

    async def _while_held(
        self,
        uid: UserId,
        claimed: Conversation,
        work: Callable[[Transaction, str], Awaitable[T]],
    ) -> T:
        path = conversation_path(uid, claimed.id)

        async def checked(tx: Transaction) -> T:
            if not _is_held(await tx.get(path), _claim(claimed)):
                raise Superseded
            return await work(tx, path)

        return await self._documents.transaction(checked)


def is_done(conversation: Conversation) -> bool:
    done = conversation.status == "completed"
    return done and conversation.processed_hash == content_hash(conversation)


def next_claim(conversation: Conversation, now: datetime) -> Claim:
    """Raises Unavailable while a live attempt works on this content; other content takes over."""
    held = conversation.claim
    if held and held.content_hash == content_hash(conversation) and held.lease_until > now:
        raise Unavailable("Another attempt is processing this conversation")
    return _claim_after(conversation, lease_until=now + LEASE)


def is_malformed(document: Document) -> bool:
    try:
        load(Conversation, document)
    except Malformed:
        return True
    return False


def _claim_after(conversation: Conversation, *, lease_until: datetime) -> Claim:
    return Claim(
        content_hash=content_hash(conversation),
        attempt=conversation.claim.attempt + 1 if conversation.claim else 1,
        lease_until=lease_until,
    )


def _claim(claimed: Conversation) -> Claim:
    assert claimed.claim is not None, "take() claimed it"
    return claimed.claim


def _is_held(document: Document | None, claim: Claim) -> bool:
    if document is None or is_malformed(document):
        return False
    stored = load(Conversation, document)
    return (
        stored.claim is not None
        and stored.claim.attempt == claim.attempt
        and content_hash(stored) == claim.content_hash
    )


def _derived(
    uid: UserId, items: Sequence[ActionItem], memories: Sequence[Memory]
) -> list[tuple[str, ActionItem | Memory]]:
    return [
        *((action_item_path(uid, item.id), item) for item in items),
        *((memory_path(uid, memory.id), memory) for memory in memories),
    ]


def _is_owners(document: Document | None) -> bool:
    """Raises nothing: what cannot be read was not written by us, so it is left alone."""
    if document is None:
        return False
    try:
        if "/memories/" in document.path:
            return load(Memory, document).is_owners
        return load(ActionItem, document).is_owners
    except Malformed:
        return True
