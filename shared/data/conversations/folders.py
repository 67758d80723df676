"""Folders of a user, in one document, and the conversations in them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

from shared.data.conversations.conversation_key import ConversationFilter
from shared.data.conversations.conversation_keys import ConversationKeys, KeyList
from shared.data.conversations.conversations import conversation_path
from shared.data.store.codec import dump, load
from shared.domain.conversations.folder import Folder, FolderList
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import ConversationId, FolderId, UserId, is_id
from shared.domain.store.documents import Document, Query, Set, Update, Where, Write
from shared.ports import Documents, Transaction

_BATCH_SIZE = 100
"""Conversations moved in one transaction."""


class Folders:
    """One document holds all folders, so that order and limits hold under concurrency.

    A move reads it in its transaction: nothing is moved into a folder that is being deleted.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._keys = ConversationKeys(documents)

    async def load(self, uid: UserId) -> FolderList:
        """Return the folders; those that we make for everybody, until the user changes them."""
        return _load(await self._documents.get(_folders_path(uid)))

    async def count_conversations(
        self, uid: UserId, folders: FolderList, *, now: datetime
    ) -> Mapping[FolderId | None, int]:
        """Count by folder the conversations that lists show."""
        counts: Counter[FolderId | None] = Counter()
        counts_by_facets = await self._keys.read(uid, KeyList.count_facets, now=now)
        for facets, count in counts_by_facets.items():
            if ConversationFilter().matches(facets):
                counts[folders.resolve(facets.folder_id)] += count
        return counts

    async def add(self, uid: UserId, folder: Folder, *, now: datetime) -> FolderList:
        """Add a folder at the end, unless one that shows the same is there. Raises Conflict."""

        def change(stored: FolderList) -> FolderList:
            return stored if stored.find_equal(folder) else stored.add(folder)

        return await self.change(uid, change, now=now)

    async def restore(self, uid: UserId, folders: Sequence[Folder], *, now: datetime) -> None:
        """Add those whose ids are not taken, as long as there is room; the first ones bring their order."""
        await self.change(uid, lambda stored: stored.restore(folders), now=now)

    async def change(
        self, uid: UserId, change: Callable[[FolderList], FolderList], *, now: datetime
    ) -> FolderList:
        """Replace the folders by what `change` makes of them. Raises what it raises."""

        async def work(tx: Transaction) -> FolderList:
            stored = _load(await tx.get(_folders_path(uid)))
            changed = change(stored)
            if changed != stored:
                tx.write(_build_write(uid, changed, now))
            return changed

        return await self._documents.transaction(work)

    async def move(
        self,
        uid: UserId,
        conversation_ids: Sequence[ConversationId],
        folder_id: str | None,
        *,
        now: datetime,
    ) -> int:
        """Put conversations into a folder, or into none; return how many of them exist.

        Raises NotFound for the folder.
        """
        ids = [name for name in dict.fromkeys(conversation_ids) if is_id(name)]
        if not ids:
            await self._require(uid, folder_id)
        batches = [ids[n : n + _BATCH_SIZE] for n in range(0, len(ids), _BATCH_SIZE)]
        return sum([await self._move_batch(uid, batch, folder_id, now) for batch in batches])

    async def _require(self, uid: UserId, folder_id: str | None) -> None:
        if folder_id is not None:
            (await self.load(uid)).get(folder_id)

    async def _move_batch(
        self,
        uid: UserId,
        ids: Sequence[ConversationId],
        folder_id: str | None,
        now: datetime,
    ) -> int:
        """Move all together, which fails if one is missing; then each on its own."""

        async def work(tx: Transaction) -> int:
            if folder_id is not None:
                _load(await tx.get(_folders_path(uid))).get(folder_id)
            changes = _build_changes(folder_id, now)
            tx.write(*(Update(conversation_path(uid, name), changes) for name in ids))
            return len(ids)

        try:
            return await self._documents.transaction(work)
        except PreconditionFailed:
            if len(ids) == 1:
                return 0
        return sum([await self._move_batch(uid, [name], folder_id, now) for name in ids])

    async def delete(
        self, uid: UserId, folder_id: str, moved_to: str | None, *, now: datetime
    ) -> None:
        """Delete a folder and move its conversations; a repeat completes an interrupted deletion.

        Raises NotFound, Invalid and Conflict.
        """
        folders = await self.change(
            uid, lambda stored: stored.delete(folder_id, moved_to, now), now=now
        )
        await self.complete_deletions(uid, folders, now=now)

    async def complete_deletions(
        self, uid: UserId, folders: FolderList, *, now: datetime
    ) -> FolderList:
        """Move the conversations that are left in deleted folders."""
        for folder_id in folders.list_unemptied():
            await self._empty(uid, folder_id, now)
            mark = partial(FolderList.mark_empty, folder_id=folder_id)
            folders = await self.change(uid, mark, now=now)
        return folders

    async def _empty(self, uid: UserId, folder_id: FolderId, now: datetime) -> None:
        query = Query(
            collection=f"users/{uid}/conversations",
            where=(Where("folder_id", "==", folder_id),),
            limit=_BATCH_SIZE,
            fields=("folder_id",),
        )
        while documents := await self._documents.query(query):
            with suppress(PreconditionFailed):  # one of them changed: the next round reads it again
                await self._move_on(uid, folder_id, documents, now)

    async def _move_on(
        self, uid: UserId, folder_id: FolderId, documents: Sequence[Document], now: datetime
    ) -> None:
        """Move the conversations of a deleted folder to where they belong now."""

        async def work(tx: Transaction) -> None:
            folders = _load(await tx.get(_folders_path(uid)))
            changes = _build_changes(folders.resolve(folder_id), now)
            tx.write(*(Update(d.path, changes, d.version) for d in documents))

        await self._documents.transaction(work)


def _build_changes(folder_id: str | None, now: datetime) -> dict[str, object]:
    return {"folder_id": folder_id, "listed_at": now}


def _load(document: Document | None) -> FolderList:
    return load(FolderList, document) if document else FolderList()


def _build_write(uid: UserId, folders: FolderList, now: datetime) -> Write:
    return Set(_folders_path(uid), {**dump(folders), "updated_at": now})


def _folders_path(uid: UserId) -> str:
    return f"users/{uid}/folders/all"
