"""Stored answers of models: kept beside the conversation for redeliveries, until its text is deleted."""

from collections.abc import Mapping
from typing import Any

from functions.process_conversation.processing.claims import Claims, require_claim
from shared.data.conversations.announcements import claim_path
from shared.data.conversations.conversations import conversation_path
from shared.data.store.codec import dump
from shared.domain.conversations.claim import Claim, advance
from shared.domain.conversations.conversation import Conversation, transcript_hash
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Set
from shared.ports import Documents, Transaction


async def load_answer(
    documents: Documents, uid: UserId, claimed: Conversation, stage: str
) -> Mapping[str, Any] | None:
    """Return the stored answer if the transcript is still the same."""
    if require_claim(claimed).is_first:
        return None
    document = await documents.get(_answer_path(uid, claimed.id, stage))
    stored_hash = document.fields.get("said_hash") if document else None
    return document.fields if document and stored_hash == transcript_hash(claimed) else None


async def store_answer(
    claims: Claims, uid: UserId, claimed: Conversation, stage: str, answer: Mapping[str, Any]
) -> None:
    """Store a model's answer beside the conversation. Raises Superseded.

    Its hash tells whether the transcript is still the same, so the conversation is not read. Attempts
    and waits are counted anew from here.
    """
    stored = {**answer, "said_hash": transcript_hash(claimed)}

    async def work(tx: Transaction, claim: Claim) -> None:
        tx.write(Set(_answer_path(uid, claimed.id, stage), stored))
        if (advanced := advance(claim)) != claim:
            tx.write(Set(claim_path(uid, claimed.id), dump(advanced)))

    await claims.run_fenced(uid, claimed, work)


def _answer_path(uid: UserId, conversation_id: ConversationId, stage: str) -> str:
    return f"{conversation_path(uid, conversation_id)}/answers/{stage}"
