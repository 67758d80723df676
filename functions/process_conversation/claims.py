"""Who processes a conversation: claimed, saved and completed in transactions that check each other."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from functions.process_conversation.derived import (
    as_stored,
    derived_path,
    removal,
    revivals,
    writes_of,
)
from functions.process_conversation.draft import Draft
from shared.data.codec import Malformed, dump, load
from shared.data.conversations import conversation_path, forgotten_path
from shared.data.memories import memory_path
from shared.data.standing import Decoded, Standing
from shared.domain.claim import Claim, given_back, is_settled, settled, taken, writing
from shared.domain.conversation import Conversation, content_hash, edited, said_hash
from shared.domain.documents import Delete, Document, Set, Update, Write
from shared.domain.errors import Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.ports import Clock, Documents, NewId, Transaction

T = TypeVar("T")
GONE = ""
"""Stands for the content of a conversation that is not there."""


class Superseded(Exception):
    """The conversation changed or is gone, or a newer attempt took over: stop quietly."""


class Claims:
    """One attempt at a time may write what is derived from a conversation.

    The claim stands in a document of its own: taking it fires no trigger, and outlives a deletion.
    """

    def __init__(self, documents: Documents, clock: Clock, new_id: NewId) -> None:
        self._documents = documents
        self._clock = clock
        self._new_id = new_id
        self._decoded = Decoded()

    async def take(
        self, uid: UserId, conversation_id: ConversationId, *, said: str
    ) -> Conversation | Claim:
        """Claim what a message is about; what is done comes back as it is, without a claim.

        Of a conversation that is gone only the claim comes back. `said` is the message's hash; what
        is done is claimed all the same when an earlier delivery of the message died while it wrote
        to the index. Raises Unavailable while another attempt works on this content, and Malformed.
        """
        path, beside = conversation_path(uid, conversation_id), claim_path(uid, conversation_id)
        attempt = self._new_id()

        async def work(tx: Transaction) -> Conversation | Claim:
            document, noted = await tx.get_many([path, beside])
            before = _claim(noted)
            conversation = load(Conversation, document) if document else None
            if conversation and is_done(conversation) and is_settled(before, said):
                return replace(conversation, held_by=None)
            hashed = content_hash(conversation) if conversation else GONE
            claim = taken(
                before, attempt=attempt, content_hash=hashed, said=said, now=self._clock.now()
            )
            if conversation is None:
                claim = writing(claim, 0, (), self._clock.now())
                tx.write(Set(beside, dump(claim)))
                return claim
            tx.write(Set(beside, dump(claim)))
            if conversation.status != "processing":
                tx.write(Update(path, {"status": "processing", "failure": None}))
            return replace(
                conversation, status="processing", held_by=claim, chunk_count=claim.chunk_count
            )

        return await self._documents.transaction(work)

    async def keep(
        self, uid: UserId, claimed: Conversation, stage: str, answer: Mapping[str, Any]
    ) -> None:
        """Store a model's answer beside the conversation. Raises Superseded."""

        async def work(tx: Transaction, _: Claim, standing: Standing) -> None:
            path = f"{conversation_path(uid, claimed.id)}/answers/{stage}"
            tx.write(Set(path, {**answer, "said_hash": standing.said_hash}))

        await self._while_held(uid, claimed, work)

    async def kept(
        self, uid: UserId, claimed: Conversation, stage: str
    ) -> Mapping[str, Any] | None:
        """Return what keep() stored for the same words."""
        path = f"{conversation_path(uid, claimed.id)}/answers/{stage}"
        document = await self._documents.get(path)
        said = document.fields.get("said_hash") if document else None
        return document.fields if document and said == said_hash(claimed) else None

    async def save(self, uid: UserId, claimed: Conversation, draft: Draft) -> Draft:
        """Store what was derived, and announce the rows to come. Raises Superseded.

        What the owner wrote or changed stays; the draft comes back as it was stored, without what
        they deleted. What is announced is removed again, whatever becomes of this attempt.
        """
        path = conversation_path(uid, claimed.id)
        values = draft.derived
        names = [one.old.id for one in draft.corrections] + list(draft.repeated)
        paths = [
            *(forgotten_path(path, one.id) for one in values),
            *(derived_path(uid, one) for one in values),
            *(memory_path(uid, name) for name in names),
        ]

        async def work(tx: Transaction, held: Claim, _: Standing) -> Draft:
            read = await tx.get_many(paths)
            gone = {mark.id for mark in read[: len(values)] if mark}
            stored = {document.path: document for document in read[len(values) :] if document}
            left = as_stored(draft.without(gone), uid, stored)
            tx.write(*writes_of(left, uid, stored, claimed.id))
            ids = [memory.id for memory in left.memories if memory.is_current]
            claim = writing(held, left.chunk_count, ids, self._clock.now())
            tx.write(Set(claim_path(uid, claimed.id), dump(claim)))
            return left

        return await self._while_held(uid, claimed, work)

    async def complete(self, uid: UserId, claimed: Conversation, draft: Draft) -> None:
        """Store what it was about, remove what an earlier content said. Raises Superseded."""
        changes = {
            "status": "completed",
            "failure": None,
            "discarded": draft.discarded,
            "topics": dump(draft.topics),
            "processed_hash": _own(claimed).content_hash,
            "chunk_count": draft.chunk_count,
        }
        stale = [derived_path(uid, one) for one in draft.stale]

        async def work(tx: Transaction, held: Claim, standing: Standing) -> None:
            stored = await tx.get_many(stale)
            claim = settled(held, held.attempt, self._clock.now())
            if not claim.writing:  # nobody else may add rows: these are all
                ids = tuple(memory.id for memory in draft.memories if memory.is_current)
                claim = replace(claim, chunk_count=draft.chunk_count, memory_ids=ids)
            tx.write(Set(claim_path(uid, claimed.id), dump(claim)))
            structured = edited(draft.structured, standing.conversation.edits)
            changed = {**changes, "structured": dump(structured)}
            tx.write(Update(conversation_path(uid, claimed.id), changed))
            removals = [removal(old, claimed.id) for old in stored if old]
            tx.write(*(write for write in removals if write))
            tx.write(*revivals(uid, draft.revived))

        await self._while_held(uid, claimed, work)

    async def fail(self, uid: UserId, claimed: Conversation, reason: str) -> None:
        """Say why it cannot be processed; what was stored before stays as it was."""
        changes = {"status": "failed", "failure": reason, "discarded": False}

        async def work(tx: Transaction, held: Claim, _: Standing) -> None:
            tx.write(
                Set(
                    claim_path(uid, claimed.id),
                    dump(settled(held, held.attempt, self._clock.now())),
                )
            )
            tx.write(Update(conversation_path(uid, claimed.id), changes))

        await self._while_held(uid, claimed, work)

    async def give_back(self, uid: UserId, conversation_id: ConversationId, claim: Claim) -> None:
        """Let the next attempt begin at once, and let the message that comes again mend the index."""
        path = claim_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            stored = _claim(await tx.get(path))
            tx.write(Set(path, dump(given_back(stored, claim, self._clock.now()))))

        await self._documents.transaction(work)

    async def forget(
        self,
        uid: UserId,
        conversation_id: ConversationId,
        claim: Claim,
        writes: Sequence[Write],
    ) -> None:
        """Apply what removes all that was derived, and the claim once nobody may write rows any more.

        Raises Superseded if the conversation is there again.
        """
        beside = claim_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            document, noted = await tx.get_many([conversation_path(uid, conversation_id), beside])
            if document is not None:
                raise Superseded
            left = settled(_claim(noted) or claim, claim.attempt, self._clock.now())
            tx.write(*writes)
            tx.write(Set(beside, dump(left)) if left.writing else Delete(beside))

        await self._documents.transaction(work)

    async def abandon(self, uid: UserId, conversation_id: ConversationId, reason: str) -> None:
        """Say that nobody will try again, unless it is done.

        Raises Unavailable while an attempt is at work: it may succeed.
        """
        path = conversation_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            document, noted = await tx.get_many([path, claim_path(uid, conversation_id)])
            conversation, claim = _readable(document), _claim(noted)
            if conversation is None or is_done(conversation):
                return
            if claim is not None and claim.lease_until > self._clock.now():
                raise Unavailable("The conversation is being processed")
            tx.write(Update(path, {"status": "failed", "failure": reason}))

        await self._documents.transaction(work)

    async def refuse(self, uid: UserId, conversation_id: ConversationId) -> None:
        """Mark a document that cannot be read; its next good version is processed as any other."""
        path = conversation_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            document = await tx.get(path)
            if document is not None and _readable(document) is None:
                tx.write(Update(path, {"status": "failed", "failure": "malformed document"}))

        await self._documents.transaction(work)

    async def _while_held(
        self,
        uid: UserId,
        claimed: Conversation,
        work: Callable[[Transaction, Claim, Standing], Awaitable[T]],
    ) -> T:
        """Work with claim and conversation as stored now. Raises Superseded if it is not ours."""
        paths = [conversation_path(uid, claimed.id), claim_path(uid, claimed.id)]

        async def checked(tx: Transaction) -> T:
            document, noted = await tx.get_many(paths)
            held = _claim(noted)
            for standing in self._decoded.all([document]):
                if held and _is_own(held, claimed, standing):
                    return await work(tx, held, standing)
            raise Superseded

        return await self._documents.transaction(checked)


def claim_path(uid: UserId, conversation_id: ConversationId) -> str:
    return f"users/{uid}/processing/{conversation_id}"


def is_done(conversation: Conversation) -> bool:
    done = conversation.status == "completed"
    return done and conversation.processed_hash == content_hash(conversation)


def _readable(document: Document | None) -> Conversation | None:
    try:
        return load(Conversation, document) if document else None
    except Malformed:
        return None


def _claim(document: Document | None) -> Claim | None:
    return load(Claim, document) if document else None


def _is_own(held: Claim, claimed: Conversation, standing: Standing) -> bool:
    own = held.attempt == _own(claimed).attempt
    return own and held.content_hash == standing.content_hash


def _own(claimed: Conversation) -> Claim:
    assert claimed.held_by is not None, "take() claimed it"
    return claimed.held_by
