"""Shared conversations: links to single conversations, by their tokens."""

from datetime import datetime

from shared.data.conversations.conversations import conversation_path, shared_path
from shared.data.store.codec import dump, load, load_all
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.shared_conversation import SharedConversation
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId, UserId, is_id
from shared.domain.store.documents import Create, Delete, Document, Update
from shared.ports import Documents, Transaction


class SharedConversations:
    """Links stand at the top, because whoever has one does not know its owner.

    The conversation names its token too: a link holds only while both say the same.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def share(
        self, uid: UserId, conversation_id: ConversationId, token: str, *, now: datetime
    ) -> str:
        """Make the link with this token and return its token; that of an older link, if there is one.

        Raises NotFound.
        """
        path = _build_valid_path(uid, conversation_id)
        link = SharedConversation(
            id=token, uid=uid, conversation_id=conversation_id, created_at=now
        )

        async def work(tx: Transaction) -> str:
            stored_token = _read_token(await tx.get(path))
            if stored_token is not None:
                return stored_token
            tx.write(Update(path, {"visibility": "shared", "share_token": token}))
            tx.write(Create(shared_path(token), dump(link)))
            return token

        return await self._documents.transaction(work)

    async def unshare(self, uid: UserId, conversation_id: ConversationId) -> None:
        """End the link for good; a later one has another token. Raises NotFound."""
        path = _build_valid_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            stored_token = _read_token(await tx.get(path))
            tx.write(Update(path, {"visibility": "private", "share_token": None}))
            if stored_token is not None:
                tx.write(Delete(shared_path(stored_token)))

        await self._documents.transaction(work)

    async def find(self, token: str) -> SharedConversation | None:
        """Return the link of a token; its conversation may be gone."""
        document = await self._documents.get(shared_path(token)) if is_id(token) else None
        return next(iter(load_all(SharedConversation, [document])), None)


def _read_token(document: Document | None) -> str | None:
    """Return the token of a conversation's link. Raises NotFound where there is no conversation."""
    if document is None:
        raise NotFound("Conversation not found")
    conversation = load(Conversation, document)
    if conversation.merged_into is not None:
        raise NotFound("Conversation not found")
    return conversation.share_token


def _build_valid_path(uid: UserId, conversation_id: ConversationId) -> str:
    if not is_id(conversation_id):
        raise NotFound("Conversation not found")
    return conversation_path(uid, conversation_id)
