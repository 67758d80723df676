"""Claims of conversations: leases with a fencing token, checked in each transaction that saves."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from functions.process_conversation.processing.derived_writes import (
    build_removal,
    build_tombstones,
    build_writes,
    derived_path,
    merge_stored,
    remove_mentions,
)
from functions.process_conversation.processing.draft import Draft
from functions.process_conversation.processing.extracted_items import (
    follow_tasks,
    list_item_paths,
    list_tombstone_paths,
)
from functions.process_conversation.processing.failures import describe_exhaustion
from shared.data.codec import MalformedDocument, dump, load
from shared.data.conversation_cache import CachedConversation, ConversationCache
from shared.data.conversations import conversation_path, tombstone_path
from shared.data.memories import memory_path
from shared.data.photos import list_photo_paths
from shared.data.profiles import profile_path
from shared.data.transcripts import part_path
from shared.domain.action_item import ActionItem
from shared.domain.claim import (
    LEASE_EXTENSION_INTERVAL,
    SUSPECT_ATTEMPTS,
    Claim,
    acquire,
    add_write_lease,
    extend,
    finish,
    has_no_writer,
    park,
    release,
    wait,
)
from shared.domain.conversation import Conversation, apply_edits, content_hash, transcript_hash
from shared.domain.derived_ids import identify_items
from shared.domain.documents import Delete, Document, Fields, Query, Set, Update, Write
from shared.domain.errors import AlreadyExists, Unavailable
from shared.domain.failure import Failure
from shared.domain.ids import ConversationId, UserId
from shared.domain.memory import Memory
from shared.domain.profile import Profile
from shared.library.superseded import build_restore_writes
from shared.ports import Clock, Documents, NewId, Transaction
from shared.resilience.heartbeat import keep_extending

T = TypeVar("T")
DELETED_HASH = ""
"""The content hash of a deleted conversation."""
MALFORMED_DOCUMENT = Failure(reason="other", detail="malformed document")


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
        self, uid: UserId, conversation_id: ConversationId, *, message_hash: str
    ) -> Conversation | Claim:
        """Claim the conversation of a message and return it; one that is done comes without a claim.

        For a deleted conversation the claim alone is returned. One that is done is claimed all the
        same if an earlier delivery of this message (the same `message_hash`) died while it wrote to
        the index. Raises Unavailable while another attempt works on this content, and
        MalformedDocument.
        """
        path = conversation_path(uid, conversation_id)
        stored_claim_path = claim_path(uid, conversation_id)
        attempt = self._new_id()

        async def work(tx: Transaction) -> Conversation | Claim:
            document, claim_document = await tx.get_many([path, stored_claim_path])
            previous = _parse_claim(claim_document)
            conversation = load(Conversation, document) if document else None
            if conversation and is_done(conversation) and has_no_writer(previous, message_hash):
                tx.write(*_build_settling(stored_claim_path, previous))
                return replace(conversation, held_by=None)
            claim = acquire(
                previous,
                attempt=attempt,
                content_hash=content_hash(conversation) if conversation else DELETED_HASH,
                message_hash=message_hash,
                now=self._clock.now(),
            )
            if conversation is None:
                claim = add_write_lease(claim, 0, (), self._clock.now())
            tx.write(Set(stored_claim_path, dump(claim)))
            if conversation and (
                conversation.status != "processing" or conversation.listed_at is None
            ):
                changes = {"status": "processing", "failure": None, "listed_at": self._clock.now()}
                tx.write(Update(path, changes))
            return _apply_claim(conversation, claim) if conversation else claim

        return await self._documents.transaction(work)

    async def store_answer(
        self, uid: UserId, claimed: Conversation, stage: str, answer: Mapping[str, Any]
    ) -> None:
        """Store a model's answer beside the conversation. Raises Superseded.

        Its hash tells whether the transcript is still the same, so the conversation is not read.
        """
        stored = {**answer, "said_hash": transcript_hash(claimed)}

        async def work(tx: Transaction) -> None:
            stored_claim = _parse_claim(await tx.get(claim_path(uid, claimed.id)))
            if stored_claim is None or stored_claim.attempt != _require_claim(claimed).attempt:
                raise Superseded
            tx.write(Set(_answer_path(uid, claimed, stage), stored))

        await self._documents.transaction(work)

    async def load_answer(
        self, uid: UserId, claimed: Conversation, stage: str
    ) -> Mapping[str, Any] | None:
        """Return the stored answer if the transcript is still the same."""
        if _require_claim(claimed).is_first:
            return None
        path = _answer_path(uid, claimed, stage)
        document = await self._documents.get(path)
        stored_hash = document.fields.get("said_hash") if document else None
        return document.fields if document and stored_hash == transcript_hash(claimed) else None

    async def save(
        self, uid: UserId, claimed: Conversation, draft: Draft, *, wipes: int = 0
    ) -> Draft:
        """Store what was derived, and record the rows to come. Raises Superseded.

        What its owner wrote or changed stays; the draft is returned as stored, without what they
        deleted, and without memories if they had all deleted since the transcript was read, `wipes` wipes
        ago. Recorded rows are removed if this attempt dies.
        """
        if claimed.is_untouched:  # nothing to read, but for what outlived an earlier conversation
            with suppress(AlreadyExists):
                return await self._save(uid, claimed, draft, (), wipes)
        return await self._save(uid, claimed, draft, draft.derived_values, wipes)

    async def _save(
        self,
        uid: UserId,
        claimed: Conversation,
        draft: Draft,
        compared_values: Sequence[ActionItem | Memory],
        wipes: int,
    ) -> Draft:
        """Store a draft; `compared_values` are those of it that may be stored, or deleted for good."""
        path = conversation_path(uid, claimed.id)
        memory_ids = [correction.old.id for correction in draft.corrections]
        memory_ids += draft.repeated_ids
        paths = [
            *(tombstone_path(path, record.id) for record in compared_values),
            *(derived_path(uid, record) for record in compared_values),
            *(memory_path(uid, memory_id) for memory_id in memory_ids),
            *([profile_path(uid)] if draft.memories else []),
        ]

        async def work(tx: Transaction, stored_claim: Claim, _: CachedConversation) -> Draft:
            documents = await tx.get_many(paths) if paths else []
            tombstones = documents[: len(compared_values)]
            others = documents[len(compared_values) :]
            deleted_ids = {tombstone.id for tombstone in tombstones if tombstone}
            documents_by_path = {document.path: document for document in others if document}
            if _count_wipes(documents_by_path.get(profile_path(uid))) != wipes:
                deleted_ids |= {memory.id for memory in draft.memories}
                tx.write(*build_tombstones(path, draft.memories))
            stored_draft = merge_stored(draft.exclude(deleted_ids), uid, documents_by_path)
            tx.write(*build_writes(stored_draft, uid, documents_by_path, claimed.id))
            ids = [memory.id for memory in stored_draft.memories if memory.is_current]
            claim = add_write_lease(stored_claim, stored_draft.chunk_count, ids, self._clock.now())
            tx.write(Set(claim_path(uid, claimed.id), dump(claim)))
            return stored_draft

        return await self._with_claim(uid, claimed, work)

    async def complete(self, uid: UserId, claimed: Conversation, draft: Draft) -> None:
        """Store structure and topics, and remove what is stale. Raises Superseded."""
        changes = {
            "status": "completed",
            "failure": None,
            "waiting_since": None,
            "discarded": draft.discarded,
            "topics": dump(draft.topics),
            "processed_hash": _require_claim(claimed).content_hash,
            "chunk_count": draft.chunk_count,
            "text_bytes": claimed.count_text_bytes(),
            "figures": dump(claimed.measure()),
            "apps_results": [dump(result) for result in draft.apps_results],
            "suggested_summarization_apps": list(draft.suggested_apps),
            **({"transcript_deleted_at": None} if claimed.transcript_segments else {}),
        }
        stale_paths = [derived_path(uid, record) for record in draft.stale_values]
        repeated_paths = [memory_path(uid, memory_id) for memory_id in draft.unrepeated_ids]
        items = identify_items(claimed.id, draft.structured.action_items)
        item_paths = list_item_paths(uid, items)

        async def work(tx: Transaction, stored_claim: Claim, current: CachedConversation) -> None:
            if current.conversation.summary_app != claimed.summary_app:
                raise Superseded  # its owner wants another summary
            paths = [*stale_paths, *repeated_paths, *item_paths]
            found = await tx.get_many(paths) if paths else []
            tasks = found[len(stale_paths) + len(repeated_paths) :]
            gone_paths = list_tombstone_paths(uid, claimed.id, items, tasks)
            tombstones = await tx.get_many(gone_paths) if gone_paths else []
            documents = found[: len(stale_paths)]
            repeated = found[len(stale_paths) : len(stale_paths) + len(repeated_paths)]
            claim = finish(stored_claim, stored_claim.attempt, self._clock.now())
            if not claim.writing:  # no other attempt may add rows: these are all
                ids = tuple(memory.id for memory in draft.memories if memory.is_current)
                claim = replace(claim, chunk_count=draft.chunk_count, memory_ids=ids)
            tx.write(Set(claim_path(uid, claimed.id), dump(claim)))
            kept_items = follow_tasks(items, tasks, tombstones)
            structured = replace(draft.structured, action_items=kept_items)
            structured = apply_edits(structured, current.conversation.edits)
            times = _build_times(current.conversation, draft, self._clock.now())
            listed = {"structured": dump(structured), "listed_at": self._clock.now()}
            fields = {**changes, **times, **listed}
            tx.write(Update(conversation_path(uid, claimed.id), fields))
            removals = [build_removal(document, claimed.id) for document in documents if document]
            tx.write(*(write for write in removals if write))
            tx.write(*remove_mentions(repeated, claimed.id))
            tx.write(*build_restore_writes(uid, draft.restored_memories))

        await self._with_claim(uid, claimed, work)

    async def fail(
        self,
        uid: UserId,
        claimed: Conversation,
        failure: Failure,
        *,
        chunk_count: int | None = None,
    ) -> None:
        """Mark the conversation as failed; what was stored before stays. Raises Superseded.

        `chunk_count` chunks of its transcript are in the index now, None if they were not touched.
        """
        counted = {} if chunk_count is None else {"chunk_count": chunk_count}

        async def work(tx: Transaction, stored_claim: Claim, _: CachedConversation) -> None:
            claim = finish(stored_claim, stored_claim.attempt, self._clock.now())
            tx.write(Set(claim_path(uid, claimed.id), dump(claim)))
            changes = {**self._build_failure(failure), **counted, "discarded": False}
            tx.write(Update(conversation_path(uid, claimed.id), changes))

        await self._with_claim(uid, claimed, work)

    async def park(
        self, uid: UserId, claimed: Conversation, outage: Failure, *, wipes: int = 0
    ) -> datetime:
        """End an attempt during an outage; return when the next is due. Raises Superseded."""

        async def work(
            tx: Transaction, stored_claim: Claim, current: CachedConversation
        ) -> datetime:
            now = self._clock.now()
            claim = park(stored_claim, _require_claim(claimed), now, outage)
            claim = replace(claim, wipes=wipes)
            tx.write(Set(claim_path(uid, claimed.id), dump(claim)))
            changes = {"waiting_since": current.conversation.waiting_since or now}
            tx.write(Update(conversation_path(uid, claimed.id), changes))
            assert claim.due_at is not None, "park() set it"
            return claim.due_at

        return await self._with_claim(uid, claimed, work)

    def _build_failure(self, failure: Failure) -> Fields:
        return {
            "status": "failed",
            "failure": failure.detail,
            "failure_reason": failure.reason,
            "waiting_since": None,
            "listed_at": self._clock.now(),
        }

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
            stored_claim = _parse_claim(await tx.get(path))
            if stored_claim is not None:
                tx.write(Set(path, dump(extend(stored_claim, attempt, self._clock.now()))))

        await self._documents.transaction(work)

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
            stored_claim = _parse_claim(await tx.get(path))
            tx.write(Set(path, dump(release(stored_claim, claim, self._clock.now(), outage))))

        await self._documents.transaction(work)

    async def delete_derived(
        self,
        uid: UserId,
        conversation_id: ConversationId,
        claim: Claim,
        writes: Sequence[Write],
    ) -> None:
        """Apply the writes that remove what was derived; remove the claim with its last write lease.

        Raises Superseded if the conversation exists again.
        """
        stored_claim_path = claim_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            document, claim_document = await tx.get_many(
                [conversation_path(uid, conversation_id), stored_claim_path]
            )
            if document is not None:
                raise Superseded
            remaining_claim = finish(
                _parse_claim(claim_document) or claim, claim.attempt, self._clock.now()
            )
            tx.write(*writes)
            tx.write(
                Set(stored_claim_path, dump(remaining_claim))
                if remaining_claim.writing
                else Delete(stored_claim_path)
            )

        await self._documents.transaction(work)

    async def mark_failed(
        self, uid: UserId, conversation_id: ConversationId, attempts: int
    ) -> None:
        """Mark a conversation as failed that will not be tried again, unless it is done or failed by itself.

        One whose attempts hardly began, because the store was away, waits instead. The reason is that of the
        last outage. Raises Unavailable while an attempt holds the claim: it may succeed.
        """
        path = conversation_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            document, claim_document = await tx.get_many([path, claim_path(uid, conversation_id)])
            conversation = _parse_conversation_or_none(document)
            claim = _parse_claim(claim_document)
            if conversation is None or is_done(conversation) or _has_failed(conversation, claim):
                return
            if claim is not None and claim.lease_until > self._clock.now():
                raise Unavailable("The conversation is being processed")
            if claim is None or claim.attempts < SUSPECT_ATTEMPTS:
                waiting_claim = wait(claim or self._start(conversation), self._clock.now())
                tx.write(Set(claim_path(uid, conversation_id), dump(waiting_claim)))
                tx.write(Update(path, self._build_waiting(conversation)))
                return
            tx.write(Update(path, self._build_failure(describe_exhaustion(attempts, claim.outage))))
            tx.write(*_build_settling(claim_path(uid, conversation_id), claim))

        await self._documents.transaction(work)

    def _build_waiting(self, conversation: Conversation) -> Fields:
        now = self._clock.now()
        since = conversation.waiting_since or now
        return {"status": "processing", "failure": None, "waiting_since": since, "listed_at": now}

    def _start(self, conversation: Conversation) -> Claim:
        """Return the claim of an attempt that never began."""
        now, name = self._clock.now(), content_hash(conversation)
        claim = acquire(None, attempt=self._new_id(), content_hash=name, message_hash=name, now=now)
        return replace(claim, lease_until=now)

    async def delete_transcript(self, uid: UserId, conversation_id: ConversationId) -> int:
        """Delete a transcript, its photos and the models' answers about it; the structure stays.

        Returns the bytes that this freed: none where they were deleted before. Raises Unavailable
        while an attempt holds the claim: it has read the text.
        """
        path = conversation_path(uid, conversation_id)
        answers = await self._documents.query(
            Query(collection=f"{path}/answers", fields=("said_hash",))
        )

        async def work(tx: Transaction) -> int:
            document, claim_document = await tx.get_many([path, claim_path(uid, conversation_id)])
            claim = _parse_claim(claim_document)
            if claim is not None and claim.lease_until > self._clock.now():
                raise Unavailable("The conversation is being processed")
            conversation = _parse_conversation_or_none(document)
            if conversation is None:
                return 0
            parts = [part_path(path, number) for number in range(len(conversation.parts))]
            photos = list_photo_paths(path, conversation)
            tx.write(*map(Delete, [*parts, *photos, *(answer.path for answer in answers)]))
            tx.write(Update(path, _build_deletion(conversation, self._clock.now())))
            return conversation.text_bytes + conversation.photo_bytes

        return await self._documents.transaction(work)

    async def mark_malformed(self, uid: UserId, conversation_id: ConversationId) -> None:
        """Mark a malformed document as failed; its next valid version is processed as usual."""
        path = conversation_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            document, claim_document = await tx.get_many([path, claim_path(uid, conversation_id)])
            if document is not None and _parse_conversation_or_none(document) is None:
                tx.write(Update(path, self._build_failure(MALFORMED_DOCUMENT)))
                claim = _parse_claim(claim_document)
                tx.write(*_build_settling(claim_path(uid, conversation_id), claim))

        await self._documents.transaction(work)

    async def _with_claim(
        self,
        uid: UserId,
        claimed: Conversation,
        work: Callable[[Transaction, Claim, CachedConversation], Awaitable[T]],
    ) -> T:
        """Run `work` in a transaction that checks the fencing token. Raises Superseded."""
        paths = [conversation_path(uid, claimed.id), claim_path(uid, claimed.id)]

        async def work_if_claimed(tx: Transaction) -> T:
            document, claim_document = await tx.get_many(paths)
            stored_claim = _parse_claim(claim_document)
            for current in self._cache.decode_all([document]):
                if stored_claim and _is_held_by_this_attempt(stored_claim, claimed, current):
                    return await work(tx, stored_claim, current)
            raise Superseded

        return await self._documents.transaction(work_if_claimed)


def _count_wipes(profile: Document | None) -> int:
    return load(Profile, profile).memory_wipes if profile else 0


def claim_path(uid: UserId, conversation_id: ConversationId) -> str:
    return f"users/{uid}/processing/{conversation_id}"


def _answer_path(uid: UserId, conversation: Conversation, stage: str) -> str:
    return f"{conversation_path(uid, conversation.id)}/answers/{stage}"


def _build_deletion(conversation: Conversation, now: datetime) -> Mapping[str, Any]:
    """Return the changes that delete a transcript and keep its hash, so that nothing is processed."""
    return {
        "transcript_segments": [],
        "parts": [],
        "transcript_deleted_at": now,
        "deleted_hash": transcript_hash(conversation),
        "photos": [],
        "photo_count": 0,
        "photo_bytes": 0,
        "text_bytes": 0,
        "chunk_count": 0,
    }


def _apply_claim(conversation: Conversation, claim: Claim) -> Conversation:
    return replace(conversation, status="processing", held_by=claim, chunk_count=claim.chunk_count)


def _build_times(stored: Conversation, draft: Draft, now: datetime) -> Mapping[str, datetime]:
    """Return when it was processed and, if this is the first time, kept."""
    is_untimed = bool(stored.processed_hash) and stored.processed_at is None
    was_kept = stored.kept_at is not None or (is_untimed and not stored.discarded)
    times = {"processed_at": now}
    return times if draft.discarded or was_kept else {**times, "kept_at": now}


def is_done(conversation: Conversation) -> bool:
    is_completed = conversation.status == "completed"
    return is_completed and conversation.processed_hash == content_hash(conversation)


def _has_failed(conversation: Conversation, claim: Claim | None) -> bool:
    """Tell whether the last attempt at this content ended by marking it as failed."""
    if claim is None or claim.due_at is not None or conversation.status != "failed":
        return False
    return claim.content_hash == content_hash(conversation)


def _parse_conversation_or_none(document: Document | None) -> Conversation | None:
    try:
        return load(Conversation, document) if document else None
    except MalformedDocument:
        return None


def _build_settling(path: str, claim: Claim | None) -> list[Write]:
    """Return the write after which the sweep leaves a conversation alone."""
    if claim is None or claim.due_at is None:
        return []
    return [Update(path, {"due_at": None, "waits": 0})]


def _parse_claim(document: Document | None) -> Claim | None:
    return load(Claim, document) if document else None


def _is_held_by_this_attempt(
    stored_claim: Claim, claimed: Conversation, current: CachedConversation
) -> bool:
    is_same_attempt = stored_claim.attempt == _require_claim(claimed).attempt
    return is_same_attempt and stored_claim.content_hash == current.content_hash


def _require_claim(claimed: Conversation) -> Claim:
    assert claimed.held_by is not None, "acquire() set it"
    return claimed.held_by
