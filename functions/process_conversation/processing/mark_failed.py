"""Marks of failure: what a conversation shows that was tried in vain, is malformed or was given up."""

from dataclasses import replace
from datetime import datetime

from functions.process_conversation.deps import DeadLetterDeps, ProcessDeps
from functions.process_conversation.processing.claims import (
    build_settling,
    is_done,
)
from functions.process_conversation.processing.failures import describe_exhaustion
from shared import telemetry
from shared.data.conversations.announcements import claim_path, parse_claim
from shared.data.conversations.conversation_cache import CachedConversation
from shared.data.conversations.conversations import conversation_path
from shared.data.store.codec import dump, load_all
from shared.data.store.omi_form import is_unreadable
from shared.domain.conversations.claim import SUSPECT_ATTEMPTS, Claim, acquire, finish, wait
from shared.domain.conversations.conversation import Conversation, content_hash
from shared.domain.errors import Unavailable
from shared.domain.failure import Failure
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Document, Fields, Set, Update
from shared.ports import Transaction

MALFORMED_DOCUMENT = Failure(reason="other", detail="malformed document")


async def mark_failed(
    deps: ProcessDeps,
    uid: UserId,
    claimed: Conversation,
    failure: Failure,
    *,
    chunk_count: int | None = None,
) -> None:
    """End an attempt as failed; what was stored before stays.

    Raises Superseded: let the message come again then, whose attempt corrects rows that came late.
    `chunk_count` chunks of the transcript are in the index now, None if they were not touched.
    """
    telemetry.add_fields(outcome="failed", failure=failure.reason)
    counted = {} if chunk_count is None else {"chunk_count": chunk_count}

    async def work(tx: Transaction, stored_claim: Claim, _: CachedConversation) -> None:
        now = deps.clock.now()
        claim = finish(stored_claim, stored_claim.attempt, now)
        tx.write(Set(claim_path(uid, claimed.id), dump(claim)))
        changes = {**_build_failure(failure, now), **counted, "discarded": False}
        tx.write(Update(conversation_path(uid, claimed.id), changes))

    await deps.claims.run_on_same_text(uid, claimed, work)


async def mark_malformed(deps: ProcessDeps, uid: UserId, conversation_id: ConversationId) -> None:
    """Mark a malformed document as failed; its next valid version is processed as usual."""
    path, stored_claim_path = _list_paths(uid, conversation_id)

    async def work(tx: Transaction) -> None:
        document, claim_document = await tx.get_many([path, stored_claim_path])
        if document is not None and is_unreadable(document.fields):
            return  # it is whole for whoever has its secret
        if document is not None and _parse_or_none(document) is None:
            tx.write(Update(path, _build_failure(MALFORMED_DOCUMENT, deps.clock.now())))
            tx.write(*build_settling(stored_claim_path, parse_claim(claim_document)))

    await deps.stores.documents.transaction(work)


async def mark_given_up(
    deps: DeadLetterDeps, uid: UserId, conversation_id: ConversationId, attempts: int
) -> None:
    """Mark a conversation as failed that will not be tried again, unless it is done or failed by itself.

    One whose attempts hardly began, because the store was away, waits instead. The reason is that of the
    last outage. Raises Unavailable while an attempt holds the claim: it may succeed.
    """
    path, stored_claim_path = _list_paths(uid, conversation_id)

    async def work(tx: Transaction) -> None:
        now = deps.clock.now()
        document, claim_document = await tx.get_many([path, stored_claim_path])
        conversation, claim = _parse_or_none(document), parse_claim(claim_document)
        if conversation is None or is_done(conversation) or _has_failed(conversation, claim):
            return
        if claim is not None and claim.lease_until > now:
            raise Unavailable("The conversation is being processed")
        if claim is None or claim.attempts < SUSPECT_ATTEMPTS:
            waiting_claim = wait(claim or _start(conversation, deps.new_id(), now), now)
            tx.write(Set(stored_claim_path, dump(waiting_claim)))
            tx.write(Update(path, _build_waiting(conversation, now)))
            return
        failure = describe_exhaustion(attempts, claim.outage)
        tx.write(Update(path, _build_failure(failure, now)))
        tx.write(*build_settling(stored_claim_path, claim))

    await deps.stores.documents.transaction(work)


def _list_paths(uid: UserId, conversation_id: ConversationId) -> tuple[str, str]:
    return conversation_path(uid, conversation_id), claim_path(uid, conversation_id)


def _parse_or_none(document: Document | None) -> Conversation | None:
    return next(iter(load_all(Conversation, [document])), None)


def _has_failed(conversation: Conversation, claim: Claim | None) -> bool:
    """Tell whether the last attempt at this content ended by marking it as failed."""
    if claim is None or claim.due_at is not None or conversation.status != "failed":
        return False
    return claim.content_hash == content_hash(conversation)


def _start(conversation: Conversation, attempt: str, now: datetime) -> Claim:
    """Return the claim of an attempt that never began."""
    name = content_hash(conversation)
    claim = acquire(None, attempt=attempt, content_hash=name, message_hash=name, now=now)
    return replace(claim, lease_until=now, writing=())


def _build_waiting(conversation: Conversation, now: datetime) -> Fields:
    since = conversation.waiting_since or now
    return {"status": "processing", "failure": None, "waiting_since": since, "listed_at": now}


def _build_failure(failure: Failure, now: datetime) -> Fields:
    return {
        "status": "failed",
        "failure": failure.detail,
        "failure_reason": failure.reason,
        "waiting_since": None,
        "listed_at": now,
    }
