"""Merges: stored, undone and made final, each in a transaction with the conversations they concern."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from shared.data.conversations.announcements import (
    build_announcement,
    build_deletion_announcement,
    build_update_announcements,
)
from shared.data.conversations.conversations import (
    conversation_path,
    shared_path,
    split_conversation,
    tombstone_path,
)
from shared.data.conversations.transcripts import dump_conversation
from shared.data.store.codec import MalformedDocument, dump, load, load_all
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.merge import Merge
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId, UserId, is_id
from shared.domain.store.documents import Create, Delete, Document, Query, Set, Update, Where, Write
from shared.ports import Documents, Transaction

MAX_LISTED = 100
_BATCH_SIZE = 400
"""Tombstones that are written at once; Firestore takes 500."""
NOTHING_TO_UNDO = "There is no merge of this conversation that can be undone."


class Merges:
    """The merges of a user that can be undone, each by the id of the conversation that was made."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def find(self, uid: UserId, merged_id: ConversationId) -> Merge | None:
        document = await self._documents.get(_merge_path(uid, merged_id))
        return load(Merge, document) if document else None

    async def list_undoable(self, uid: UserId, now: datetime) -> list[Merge]:
        """Return the merges that can be undone, newest first: not those that were merged on."""
        where = (Where("state", "==", "merged"),)
        documents = await self._documents.query(
            Query(collection=f"users/{uid}/merges", where=where, limit=MAX_LISTED)
        )
        merges = [merge for merge in load_all(Merge, documents) if merge.can_be_undone(now)]
        merged_on = {name for merge in merges for name in merge.source_ids}
        outer = [merge for merge in merges if merge.id not in merged_on]
        return sorted(outer, key=lambda merge: merge.merged_at, reverse=True)

    async def read_sources(self, uid: UserId, ids: Sequence[ConversationId]) -> list[Document]:
        """Return the documents of conversations. Raises NotFound where one is missing."""
        if not all(map(is_id, ids)):
            raise NotFound("Conversation not found")
        documents = await self._documents.get_many([conversation_path(uid, name) for name in ids])
        found = [document for document in documents if document is not None]
        if len(found) < len(ids):
            raise NotFound("Conversation not found")
        return found

    async def read_tombstones(self, uid: UserId, conversation_id: ConversationId) -> list[Document]:
        """Return the marks of what its owner deleted."""
        collection = f"{conversation_path(uid, conversation_id)}/forgotten"
        return await self._documents.query(Query(collection=collection))

    async def adopt_tombstones(
        self, uid: UserId, conversation_id: ConversationId, family: Iterable[ConversationId]
    ) -> list[Document]:
        """Return the marks of a conversation, to which those of its family are copied first.

        So what the owner deletes of one, however late, is derived from no other.
        """
        own = {mark.id: mark for mark in await self.read_tombstones(uid, conversation_id)}
        others = [
            mark
            for name in family
            if name != conversation_id
            for mark in await self.read_tombstones(uid, name)
        ]
        new = {mark.id: mark for mark in others if mark.id not in own}
        path = conversation_path(uid, conversation_id)
        writes = [Set(tombstone_path(path, name), mark.fields) for name, mark in new.items()]
        for n in range(0, len(writes), _BATCH_SIZE):
            await self._documents.write(*writes[n : n + _BATCH_SIZE])
        return [*own.values(), *new.values()]

    async def store(
        self,
        uid: UserId,
        merge: Merge,
        merged: Conversation,
        *,
        sources: Sequence[Document],
    ) -> bool:
        """Store the merged conversation in place of its sources, all or nothing.

        Returns False where a source changed since it was read.
        """
        path = conversation_path(uid, merge.id)
        new, child_writes = split_conversation(path, merged)
        source_paths = [source.path for source in sources]
        moved_paths = [f"users/{uid}/{name}" for name in merge.moved]
        now = merge.merged_at

        async def work(tx: Transaction) -> bool:
            documents = await tx.get_many([*source_paths, *moved_paths])
            current, moved = documents[: len(sources)], documents[len(sources) :]
            if [d and d.version for d in current] != [source.version for source in sources]:
                return False
            changes = {"merged_into": merge.id, "discarded": True, "listed_at": now}
            updates = [Update(source_path, changes) for source_path in source_paths]
            announcements = await _announce(tx, uid, documents, updates, now)
            announcement = build_announcement(uid, new, now)
            tx.write(Create(path, dump_conversation(new)), *child_writes, announcement)
            tx.write(*updates, *announcements)
            tx.write(*_build_moves(moved, dict.fromkeys(moved_paths, merge.id)))
            tx.write(Create(_merge_path(uid, merge.id), dump(merge)))
            return True

        return await self._documents.transaction(work)

    async def undo(
        self, uid: UserId, merged_id: ConversationId, now: datetime
    ) -> tuple[Merge, int]:
        """Bring the sources back in place of what was made of them; a repeat changes nothing.

        Returns the merge, and by how many bytes what was made outgrew its sources. Raises NotFound.
        """
        if not is_id(merged_id):
            raise NotFound(NOTHING_TO_UNDO)
        merge_path = _merge_path(uid, merged_id)

        async def work(tx: Transaction) -> tuple[Merge, int]:
            merge = _require_merge(await tx.get(merge_path))
            if merge.state == "undone":
                return merge, 0
            if not merge.can_be_undone(now):
                raise NotFound(NOTHING_TO_UNDO)
            ids = [merged_id, *merge.source_ids]
            owners = {f"users/{uid}/{name}": source for name, source in merge.moved.items()}
            paths = [conversation_path(uid, name) for name in ids]
            documents = await tx.get_many([*paths, *owners])
            merged, *sources = documents[: len(ids)]
            if merged is None or merged.fields.get("merged_into"):
                raise NotFound(NOTHING_TO_UNDO)
            back = [source for source in sources if source is not None]
            merges = _list_undone_merges(merge, merged, back)
            returns = [_build_return(source, merge, merges, now) for source in back]
            announcements = await _announce(tx, uid, back, returns, now)
            deletion = await build_deletion_announcement(tx, uid, merged_id, now)
            tx.write(*returns, *announcements)
            tx.write(*_build_moves(documents[len(ids) :], owners))
            tx.write(Delete(merged.path), *_end_link(merged), deletion)
            undone = replace(merge, state="undone")
            tx.write(Set(merge_path, dump(undone)))
            return undone, _count_bytes(merged) - sum(map(_count_bytes, back))

        return await self._documents.transaction(work)

    async def finish(self, uid: UserId, merged_id: ConversationId) -> None:
        """Delete the sources for good; from now on the merge cannot be undone. Idempotent.

        Of an undone merge, what it left behind is deleted.
        """
        if not is_id(merged_id):
            return
        merge = await self._close(uid, merged_id)
        if merge is None:
            return
        if merge.state == "final":
            await self._delete_sources(uid, merge)
        else:
            await self._delete_undone(uid, merge)
        await self._documents.write(Delete(_merge_path(uid, merged_id)))

    async def _delete_sources(self, uid: UserId, merge: Merge) -> None:
        merged = await self._documents.get(conversation_path(uid, merge.id))
        for conversation in load_all(Conversation, [merged]):
            await self.adopt_tombstones(uid, merge.id, conversation.family)
        for document in await self._read_merged(uid, merge):
            await self._documents.write(*_end_link(document))
            await self._documents.delete_tree(document.path)

    async def _delete_undone(self, uid: UserId, merge: Merge) -> None:
        """Delete the tombstones, which its sources may not have read yet."""
        paths = [conversation_path(uid, name) for name in merge.source_ids]
        for source in filter(None, await self._documents.get_many(paths)):
            await self.adopt_tombstones(uid, ConversationId(source.id), [merge.id])
        await self._documents.delete_tree(conversation_path(uid, merge.id))

    async def _close(self, uid: UserId, merged_id: ConversationId) -> Merge | None:
        path = _merge_path(uid, merged_id)

        async def work(tx: Transaction) -> Merge | None:
            document = await tx.get(path)
            if document is None:
                return None
            merge = load(Merge, document)
            closed = replace(merge, state="final") if merge.state == "merged" else merge
            tx.write(Set(path, dump(closed)))
            return closed

        return await self._documents.transaction(work)

    async def _read_merged(self, uid: UserId, merge: Merge) -> list[Document]:
        """Return the sources that are still merged into it."""
        paths = [conversation_path(uid, name) for name in merge.source_ids]
        documents = await self._documents.get_many(paths)
        return [d for d in documents if d and d.fields.get("merged_into") == merge.id]


def _merge_path(uid: UserId, merged_id: ConversationId) -> str:
    return f"users/{uid}/merges/{merged_id}"


def _require_merge(document: Document | None) -> Merge:
    """Raises NotFound."""
    if document is None:
        raise NotFound(NOTHING_TO_UNDO)
    return load(Merge, document)


def _build_moves(
    documents: Sequence[Document | None], owners: Mapping[str, ConversationId]
) -> list[Write]:
    """Return the writes that give memories, tasks and recordings to the conversations named by their paths."""
    return [
        Update(document.path, {"conversation_id": owners[document.path]})
        for document in documents
        if document is not None
    ]


def _list_undone_merges(
    merge: Merge, merged: Document, sources: Sequence[Document]
) -> list[ConversationId]:
    """Return the merge and those that it came back from: what their owner did there holds for its sources."""
    relatives = {name for source in sources for name in _list_relatives(source)}
    known = {*merge.source_ids, *relatives}
    return [merge.id, *(name for name in _list_relatives(merged) if name not in known)]


def _list_relatives(document: Document) -> list[ConversationId]:
    return document.fields.get("merged_from") or []


async def _announce(
    tx: Transaction,
    uid: UserId,
    documents: Iterable[Document | None],
    updates: Iterable[Update],
    now: datetime,
) -> list[Write]:
    """Return the writes that announce what updates make of conversations."""
    stored = {document.path: document for document in documents if document is not None}
    updated = [
        replace(old, fields={**old.fields, **update.changes})
        for update in updates
        if (old := stored.get(update.path))
    ]
    return await build_update_announcements(tx, uid, updated, now)


def _build_return(
    source: Document, merge: Merge, merges: Sequence[ConversationId], now: datetime
) -> Update:
    changes: dict[str, Any] = {
        "merged_into": None,
        "merged_from": [*_list_relatives(source), *merges],
        "discarded": source.id in merge.discarded_ids,
        "listed_at": now,
    }
    if source.fields.get(
        "restored_hash"
    ):  # what came with its export was taken away with the merge
        changes["restored_hash"] = ""
    return Update(source.path, changes)


def _end_link(document: Document) -> list[Write]:
    token = document.fields.get("share_token")
    return [Delete(shared_path(token))] if token else []


def _count_bytes(document: Document) -> int:
    try:
        conversation = load(Conversation, document)
    except MalformedDocument:
        return 0
    return conversation.text_bytes + conversation.photo_bytes
