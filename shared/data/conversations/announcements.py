"""Announcements: claims of changes that we stored ourselves, by which the sweep finds them where their event is lost.

Also called: outbox, transactional outbox.
"""

from collections.abc import Iterable
from datetime import datetime

from shared.data.store.codec import dump, load, load_all
from shared.domain.conversations.claim import DELETED_HASH, Claim, announce
from shared.domain.conversations.conversation import Conversation, content_hash
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Create, Document, Set, Write
from shared.ports import Transaction


def claim_path(uid: UserId, conversation_id: ConversationId) -> str:
    return f"users/{uid}/processing/{conversation_id}"


def parse_claim(document: Document | None) -> Claim | None:
    return load(Claim, document) if document else None


def build_announcement(uid: UserId, new: Conversation, now: datetime) -> Write:
    """Return the write that announces a conversation which never was; a claim that is left raises AlreadyExists."""
    return Create(claim_path(uid, new.id), dump(announce(None, content_hash(new), now)))


async def build_change_announcement(
    tx: Transaction, uid: UserId, changed: Conversation, now: datetime
) -> Write:
    """Return the write that announces what a transaction stores; it reads the claim."""
    return await _announce(tx, claim_path(uid, changed.id), content_hash(changed), now)


async def build_update_announcements(
    tx: Transaction, uid: UserId, documents: Iterable[Document], now: datetime
) -> list[Write]:
    """Return the writes that announce documents of conversations as a transaction updates them; it reads their claims.

    One that cannot be read is left to its event.
    """
    changed = load_all(Conversation, documents)
    return [await build_change_announcement(tx, uid, each, now) for each in changed]


async def build_deletion_announcement(
    tx: Transaction, uid: UserId, conversation_id: ConversationId, now: datetime
) -> Write:
    """Return the write that announces that a transaction deletes a conversation; it reads the claim."""
    return await _announce(tx, claim_path(uid, conversation_id), DELETED_HASH, now)


async def _announce(tx: Transaction, path: str, new_hash: str, now: datetime) -> Write:
    claim = parse_claim(await tx.get(path))
    return Set(path, dump(announce(claim, new_hash, now)))
