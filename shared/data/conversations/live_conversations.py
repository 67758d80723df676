"""Live conversations of a user: what is recorded right now, so that any instance can go on with it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from shared.data.store.codec import dump, load, load_all
from shared.domain.conversations.live_conversation import LiveBatch, LiveConversation
from shared.domain.ids import ConversationId, UserId, is_id
from shared.domain.store.documents import Query, Set, Update, Write
from shared.ports import Documents, Transaction

MAX_LISTED = 50


class LiveConversations:
    """Documents `users/{uid}/live/{conversation_id}`, with what was said in batches below them."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list_all(self, uid: UserId) -> list[LiveConversation]:
        """List those of all devices, also those that are ending or set aside."""
        query = Query(collection=f"users/{uid}/live", limit=MAX_LISTED)
        return load_all(LiveConversation, await self._documents.query(query))

    async def find(self, uid: UserId, conversation_id: ConversationId) -> LiveConversation | None:
        document = await self._documents.get(live_path(uid, conversation_id))
        return load(LiveConversation, document) if document else None

    async def load_batches(self, uid: UserId, conversation_id: ConversationId) -> list[LiveBatch]:
        query = Query(collection=f"{live_path(uid, conversation_id)}/batches")
        return load_all(LiveBatch, await self._documents.query(query))

    async def find_batch(
        self, uid: UserId, conversation_id: ConversationId, batch_id: str
    ) -> LiveBatch | None:
        if not (is_id(conversation_id) and is_id(batch_id)):
            return None
        document = await self._documents.get(
            f"{live_path(uid, conversation_id)}/batches/{batch_id}"
        )
        return load(LiveBatch, document) if document else None

    async def add(
        self,
        uid: UserId,
        live: LiveConversation,
        batch: LiveBatch,
        *,
        is_new: bool,
        also: Write | None = None,
    ) -> LiveConversation | None:
        """Add to a conversation, or begin it, with another write; return what is stored now.

        None for one that takes nothing more: begin another. A repeat of a batch changes nothing.
        """

        def extend(stored: LiveConversation) -> LiveConversation:
            return replace(
                stored,
                last_words_at=max(stored.last_words_at, live.last_words_at),
                language=stored.language or live.language,
                text_bytes=stored.text_bytes + batch.text_bytes,
                photo_count=stored.photo_count + len(batch.photos),
                photo_bytes=stored.photo_bytes + batch.photo_bytes,
            )

        path = f"{live_path(uid, live.id)}/batches/{batch.id}"
        writes = [Set(path, dump(batch)), *([also] if also else [])]
        return await self._change(uid, live.id, extend, new=live if is_new else None, also=writes)

    async def take_over(
        self, uid: UserId, conversation_id: ConversationId, stream: str
    ) -> LiveConversation | None:
        """Let a new connection of its device go on with it; None where it takes nothing more."""
        return await self._change(uid, conversation_id, lambda live: replace(live, stream=stream))

    async def begin_end(
        self, uid: UserId, conversation_id: ConversationId
    ) -> LiveConversation | None:
        """Let it take nothing more; None where there is none. A repeat finishes what an attempt left."""
        ended = await self._change(uid, conversation_id, lambda live: replace(live, is_ending=True))
        return ended or await self.find(uid, conversation_id)

    async def set_aside(self, uid: UserId, conversation_id: ConversationId) -> None:
        """Keep one that is ending as it is: nobody ends it any more."""
        await self._documents.write(Update(live_path(uid, conversation_id), {"is_set_aside": True}))

    async def remove(self, uid: UserId, conversation_id: ConversationId) -> None:
        await self._documents.delete_tree(live_path(uid, conversation_id))

    async def _change(
        self,
        uid: UserId,
        conversation_id: ConversationId,
        change: Callable[[LiveConversation], LiveConversation],
        *,
        new: LiveConversation | None = None,
        also: Sequence[Write] = (),
    ) -> LiveConversation | None:
        """Return the changed conversation; None where it is gone, or ending."""
        path = live_path(uid, conversation_id)

        async def work(tx: Transaction) -> LiveConversation | None:
            document = await tx.get(path)
            stored = load(LiveConversation, document) if document else new
            if stored is None or stored.is_ending:
                return None
            changed = change(stored)
            tx.write(Set(path, dump(changed)), *also)
            return changed

        return await self._documents.transaction(work)


def live_path(uid: UserId, conversation_id: ConversationId) -> str:
    return f"users/{uid}/live/{conversation_id}"
