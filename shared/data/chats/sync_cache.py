"""Sync cache: the ciphertexts of a user's last 100 chats, one document a chat, so that devices sync in few reads.

What is in it is as encrypted as where it comes from. It expires after an hour, and a chat that changed since
is read anew.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from shared.data.store.codec import dump, type_adapter
from shared.domain.chats.sealed_chat import SealedChat, SealedMessage
from shared.domain.ids import UserId
from shared.domain.store.documents import Delete, Order, Query, Set
from shared.ports import Documents

SYNC_TTL = timedelta(hours=1)
MAX_CACHED = 100
MAX_BYTES = 800_000
"""Of one chat's ciphertexts: they fit into a document."""
_DELETED_AT_ONCE = 2 * MAX_CACHED
_MESSAGES = type_adapter(list[SealedMessage])


class SyncCache:
    """The chats of a user whose messages were read together."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def find(
        self, uid: UserId, chat: SealedChat, now: datetime
    ) -> Sequence[SealedMessage] | None:
        """Return all messages of a chat as it is now; None where they have to be read."""
        document = await self._documents.get(f"{_collection(uid)}/{chat.id}")
        if document is None or document.fields["expires_at"] <= now:
            return None
        if document.fields["changed_at"] != chat.changed_at:
            return None
        messages: list[SealedMessage] = _MESSAGES.validate_python(document.fields["messages"])
        return messages

    async def put(
        self, uid: UserId, chat: SealedChat, messages: Sequence[SealedMessage], now: datetime
    ) -> None:
        """Keep all messages of a chat, if they fit; the oldest beyond MAX_CACHED chats leave."""
        if sum(len(message.ciphertext or b"") for message in messages) > MAX_BYTES:
            return
        fields = {
            "changed_at": chat.changed_at,
            "cached_at": now,
            "expires_at": now + SYNC_TTL,
            "messages": [dump(message) for message in messages],
        }
        await self._documents.write(Set(f"{_collection(uid)}/{chat.id}", fields))
        await self._evict(uid, keep=MAX_CACHED)

    async def clear(self, uid: UserId) -> None:
        await self._evict(uid, keep=0)

    async def _evict(self, uid: UserId, *, keep: int) -> None:
        """Delete the oldest beyond `keep`; only they are read."""
        query = Query(
            collection=_collection(uid),
            order_by=(Order("cached_at"),),
            limit=_DELETED_AT_ONCE,
            fields=("cached_at",),
        )
        excess = await self._documents.count(query) - keep
        if excess > 0:
            leaving = replace(query, limit=min(excess, _DELETED_AT_ONCE))
            documents = await self._documents.query(leaving)
            await self._documents.write(*(Delete(document.path) for document in documents))


def _collection(uid: UserId) -> str:
    return f"users/{uid}/sync_cache"
