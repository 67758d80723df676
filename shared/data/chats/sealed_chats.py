"""Sealed chats as their clients keep them: ciphertexts, stored and returned byte for byte.

The server has no key to them. Versions keep devices apart: each ciphertext follows the one before.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from shared.data.store.codec import dump, load, load_all
from shared.data.store.paging import Page, build_page
from shared.domain.chats.sealed_chat import SealedChat, SealedMessage
from shared.domain.errors import AlreadyExists, Conflict, NotFound
from shared.domain.ids import SessionId, UserId, is_id
from shared.domain.store.documents import Create, Delete, Document, Order, Query, Set, Where
from shared.domain.value import value
from shared.ports import Documents, Transaction

MAX_CHATS = 2_000
MAX_MESSAGES = 5_000
"""Of one chat, deleted ones included."""
TOO_MANY_CHATS = f"You have {MAX_CHATS:,} sealed chats, which is the most there can be."
TOO_MANY_MESSAGES = f"A sealed chat keeps at most {MAX_MESSAGES:,} messages. Begin another one."
_DELETED_AT_ONCE = 100


@value
class NewCiphertext:
    """What a client stores of a chat beside its messages, as the next version."""

    version: int
    ciphertext: bytes


class SealedChats:
    """A user's sealed chats, and the messages below each."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def create(self, uid: UserId, chat_id: SessionId, now: datetime) -> None:
        """Begin a chat without a ciphertext; a repeat finds it. Raises NotFound for a deleted one, and Conflict.

        The conflict: there are MAX_CHATS, deleted ones aside.
        """
        existing = Query(
            collection=_collection(uid), where=(Where("is_deleted", "==", value=False),)
        )
        if await self._documents.count(existing) >= MAX_CHATS:
            raise Conflict(TOO_MANY_CHATS)
        chat = SealedChat(id=chat_id, created_at=now, changed_at=now)
        try:
            await self._documents.write(Create(_build_path(uid, chat_id), dump(chat)))
        except AlreadyExists:
            await self.get(uid, chat_id)

    async def get(self, uid: UserId, chat_id: SessionId) -> SealedChat:
        """Raises NotFound, also for a deleted one."""
        if not is_id(chat_id):
            raise NotFound("Chat session not found")
        return _require(await self._documents.get(_build_path(uid, chat_id)))

    async def put(
        self,
        uid: UserId,
        chat_id: SessionId,
        ciphertext: NewCiphertext | None,
        messages: Sequence[SealedMessage],
        now: datetime,
    ) -> SealedChat:
        """Store the next versions of a chat and of messages, all or none; a repeat changes nothing.

        Raises NotFound, and Conflict where a version does not follow the one that is stored.
        """
        path = _build_path(uid, chat_id)
        paths = [f"{path}/ciphertexts/{message.id}" for message in messages]

        async def work(tx: Transaction) -> SealedChat:
            document, *known = await tx.get_many([path, *paths])
            chat = _require(document)
            new = [m for m, stored in zip(messages, known, strict=True) if _is_new(m, stored)]
            count = chat.message_count + sum(m.version == 1 for m in new)
            if count > MAX_MESSAGES:
                raise Conflict(TOO_MANY_MESSAGES)
            changed = _change(chat, ciphertext)
            if changed == chat and not new:
                return chat
            changed = replace(changed, changed_at=_follow(chat, now), message_count=count)
            tx.write(Set(path, dump(changed)))
            tx.write(*(Set(f"{path}/ciphertexts/{m.id}", dump(m)) for m in new))
            return changed

        return await self._documents.transaction(work)

    async def list_messages(
        self,
        uid: UserId,
        chat_id: SessionId,
        *,
        limit: int,
        after: tuple[datetime, str] | None = None,
    ) -> Page[SealedMessage]:
        """Return messages after a position, oldest first."""
        query = Query(
            collection=f"{_build_path(uid, chat_id)}/ciphertexts",
            order_by=(Order("created_at"),),
            limit=limit,
            start_after=after,
        )
        documents = await self._documents.query(query)
        return build_page(load_all(SealedMessage, documents), documents, query)

    async def list_newest(
        self, uid: UserId, *, limit: int, after: tuple[datetime, str] | None = None
    ) -> list[SealedChat]:
        """Return the chats that were changed last, deleted ones included."""
        return await self._list(uid, Order("changed_at", "desc"), limit, after)

    async def list_changed(
        self, uid: UserId, *, limit: int, after: tuple[datetime, str] | None = None
    ) -> list[SealedChat]:
        """Return the chats that were changed after a position, oldest change first."""
        return await self._list(uid, Order("changed_at"), limit, after)

    async def _list(
        self, uid: UserId, order: Order, limit: int, after: tuple[datetime, str] | None
    ) -> list[SealedChat]:
        query = Query(
            collection=_collection(uid), order_by=(order,), limit=limit, start_after=after
        )
        return load_all(SealedChat, await self._documents.query(query))

    async def delete(self, uid: UserId, chat_id: SessionId, now: datetime) -> None:
        """Delete a chat's ciphertexts; its mark tells other devices. A repeat deletes what is left.

        Raises NotFound.
        """
        path = _build_path(uid, chat_id)

        async def work(tx: Transaction) -> None:
            document = await tx.get(path)
            if document is None:
                raise NotFound("Chat session not found")
            chat = load(SealedChat, document)
            if chat.is_deleted:
                return
            mark = replace(chat, ciphertext=None, is_deleted=True, message_count=0)
            tx.write(Set(path, dump(replace(mark, changed_at=_follow(chat, now)))))

        await self._documents.transaction(work)
        query = Query(
            collection=f"{path}/ciphertexts", limit=_DELETED_AT_ONCE, fields=("created_at",)
        )
        while documents := await self._documents.query(query):
            await self._documents.write(*(Delete(found.path) for found in documents))


def _follow(chat: SealedChat, now: datetime) -> datetime:
    """Return the time of a change, which is later than that of the one before."""
    return max(now, chat.changed_at + timedelta(microseconds=1))


def _require(document: Document | None) -> SealedChat:
    chat = load(SealedChat, document) if document else None
    if chat is None or chat.is_deleted:
        raise NotFound("Chat session not found")
    return chat


def _is_new(message: SealedMessage, document: Document | None) -> bool:
    """Tell whether a message is the next version, and not a repeat. Raises Conflict."""
    stored = load(SealedMessage, document) if document else None
    if stored is not None and stored.version == message.version:
        if (stored.ciphertext, stored.created_at) == (message.ciphertext, message.created_at):
            return False
        raise Conflict(f"Another version {message.version} of message {message.id!r} is stored.")
    _check_next(f"message {message.id!r}", stored.version if stored else 0, message.version)
    return True


def _change(chat: SealedChat, new: NewCiphertext | None) -> SealedChat:
    """Return a chat with the next version of its ciphertext. Raises Conflict."""
    if new is None or (chat.version, chat.ciphertext) == (new.version, new.ciphertext):
        return chat
    _check_next("the chat", chat.version, new.version)
    return replace(chat, version=new.version, ciphertext=new.ciphertext)


def _check_next(name: str, stored: int, version: int) -> None:
    if version != stored + 1:
        raise Conflict(f"Version {stored} of {name} is stored, so the next one is {stored + 1}.")


def _collection(uid: UserId) -> str:
    return f"users/{uid}/sealed_chats"


def _build_path(uid: UserId, chat_id: SessionId) -> str:
    return f"{_collection(uid)}/{chat_id}"
