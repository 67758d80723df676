"""Bin entries of a user: records moved out of their collections, so that nothing reads them there.

Also called: trash, soft delete.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from shared.data.conversations.announcements import (
    build_change_announcement,
    build_deletion_announcement,
)
from shared.data.conversations.conversation_keys import ConversationKeys
from shared.data.conversations.conversations import (
    conversation_path,
    load_shown,
    shared_path,
    tombstone_path,
)
from shared.data.memories.memories import forgotten_path
from shared.data.store.codec import dump, load, load_all
from shared.data.store.item_copies import follow_return
from shared.data.store.paging import iter_documents
from shared.domain.account.bin_entry import BinEntry, BinKind, PartKind
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.derived_ids import build_derived_id
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import ConversationId, MemoryId, UserId, is_id
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import (
    Create,
    Delete,
    Document,
    Order,
    Query,
    Set,
    Update,
    Where,
    Write,
)
from shared.domain.tasks.action_item import ActionItem
from shared.ports import Documents, Transaction

MAX_LISTED = 500
_SHOWN = ("kind", "record_id", "title", "binned_at", "due_at")
NOTHING_FOUND = "This is not in the bin."
BEING_RECORDED = "This conversation is still being recorded. Move it to the bin when it has ended."
_LARGE_CHARS = 250_000
"""A record of so many may leave no room in its document for what an entry adds."""
_BATCH_SIZE = 200
_MAX_TAKEN = 1_000


class BinEntries:
    """Documents `users/{uid}/bin/{kind}-{id}`; what stands below a conversation stays where it is.

    The largest field of a large record stands apart, in `records/rest` below its entry.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list_newest(self, uid: UserId, now: datetime) -> list[BinEntry]:
        """List what can still be restored, without its records, what was moved last first."""
        query = Query(
            collection=f"users/{uid}/bin",
            where=(Where("due_at", ">", now),),
            order_by=(Order("due_at", "desc"),),
            limit=MAX_LISTED,
            fields=_SHOWN,
        )
        entries = load_all(BinEntry, await self._documents.query(query))
        return sorted(entries, key=lambda entry: entry.binned_at, reverse=True)

    async def find(self, uid: UserId, kind: BinKind, record_id: str) -> BinEntry | None:
        if not is_id(record_id):
            return None
        document = await self._documents.get(_path(uid, kind, record_id))
        return load(BinEntry, document) if document else None

    async def list_taken(self, uid: UserId, conversation_id: ConversationId) -> list[BinEntry]:
        """Return what went with a conversation."""
        query = Query(
            collection=f"users/{uid}/bin",
            where=(Where("taken_by", "==", conversation_id),),
            limit=_MAX_TAKEN,
        )
        return load_all(BinEntry, await self._documents.query(query))

    async def move_conversation(
        self, uid: UserId, entry: BinEntry, parts: Sequence[BinEntry], *, also: Sequence[Write]
    ) -> None:
        """Move a conversation with its parts, all or nothing; the writes `also` are made with it.

        It is announced like a deletion, so that its rows go. Raises NotFound, and Conflict while it is recorded.
        """
        conversation_id = ConversationId(entry.record_id)
        path = conversation_path(uid, conversation_id)
        part_paths = [f"users/{uid}/{part.kind}/{part.record_id}" for part in parts]

        async def work(tx: Transaction) -> Conversation:
            document, *found = await tx.get_many([path, *part_paths])
            for stored in load_shown([document]):
                if stored.status == "in_progress":
                    raise Conflict(BEING_RECORDED)
                now = entry.binned_at
                announcement = await build_deletion_announcement(tx, uid, conversation_id, now)
                tx.write(*_build_move(uid, entry, document), announcement)
                for part, part_document in zip(parts, found, strict=True):
                    tx.write(*_build_move(uid, part, part_document))
                tx.write(*also)
                return stored
            raise NotFound("Conversation not found")

        moved = await self._documents.transaction(work)
        positions = [(moved.created_at, moved.id)]
        await ConversationKeys(self._documents).forget(uid, positions, now=entry.binned_at)

    async def restore_conversation(
        self, uid: UserId, conversation_id: ConversationId, *, now: datetime
    ) -> list[BinEntry]:
        """Put a conversation back with its parts, all or nothing, to be processed again; return the parts.

        What was stored anew under its id meanwhile stays. Raises NotFound.
        """
        path = conversation_path(uid, conversation_id)
        parts = await self.list_taken(uid, conversation_id)
        part_paths = [f"users/{uid}/{part.kind}/{part.record_id}" for part in parts]

        async def work(tx: Transaction) -> None:
            entry_path = bin_path(uid, conversation_id)
            entry = _require(await tx.get(entry_path), now)
            document, rest, *found = await tx.get_many([path, _rest_path(entry_path), *part_paths])
            corrections = await _build_corrections(tx, uid, parts)
            if document is None:
                whole = {**entry.record, **(rest.fields if rest else {})}
                stamps = {
                    "processed_hash": None,
                    "listed_at": now if whole.get("listed_at") else None,
                }
                record = {**whole, **stamps}  # no larger than it was
                back = load(Conversation, Document(path=path, fields=record, version=""))
                announcement = await build_change_announcement(tx, uid, back, now)
                tx.write(Create(path, record), announcement)
            for part, part_path, stored in zip(parts, part_paths, found, strict=True):
                tx.write(Delete(_path(uid, part.kind, part.record_id)))
                if stored is None:
                    tx.write(Create(part_path, {**part.record}))
            tx.write(*corrections, Delete(entry_path), Delete(_rest_path(entry_path)))

        await self._documents.transaction(work)
        return parts

    async def restore_memory(self, uid: UserId, memory_id: MemoryId, *, now: datetime) -> Memory:
        """Put a memory back, and what it corrected behind it. Raises NotFound."""

        async def work(tx: Transaction) -> Memory:
            entry_path = _path(uid, "memories", memory_id)
            entry = _require(await tx.get(entry_path), now)
            path = f"users/{uid}/memories/{memory_id}"
            memory = load(Memory, Document(path=path, fields=entry.record, version=""))
            source, binned, stored = await self._read_source(tx, uid, memory.conversation_id, path)
            if source is None and binned is None:
                memory = replace(memory, conversation_id=None, evidence="", segment=None)
            writes = await _build_corrections(tx, uid, [entry])
            tx.write(*([] if stored else [Create(path, dump(memory))]), Delete(entry_path), *writes)
            tx.write(*map(Delete, _list_marks(uid, memory)))
            return load(Memory, stored) if stored else memory

        return await self._documents.transaction(work)

    async def restore_task(self, uid: UserId, task_id: str, *, now: datetime) -> ActionItem:
        """Put a task back, in its conversation too. Raises NotFound."""

        async def work(tx: Transaction) -> ActionItem:
            entry_path = _path(uid, "action_items", task_id)
            entry = _require(await tx.get(entry_path), now)
            path = f"users/{uid}/action_items/{task_id}"
            task = load(ActionItem, Document(path=path, fields=entry.record, version=""))
            source, binned, stored = await self._read_source(tx, uid, task.conversation_id, path)
            if task.conversation_id is not None:
                mark = tombstone_path(conversation_path(uid, task.conversation_id), task_id)
                tx.write(Delete(mark), *follow_return(source, task))
            if source is None and binned is None:
                task = replace(task, conversation_id=None)
            tx.write(*([] if stored else [Create(path, dump(task))]), Delete(entry_path))
            return load(ActionItem, stored) if stored else task

        return await self._documents.transaction(work)

    async def drop(
        self, uid: UserId, kind: BinKind, record_id: str, *, now: datetime
    ) -> int | None:
        """Delete an entry for good; return the bytes that its record counts, None where there is none.

        Of a conversation, what removes what was derived from a deleted one finds the rest, sound included.
        """
        if not is_id(record_id):
            return None
        entry_path = _path(uid, kind, record_id)
        if kind != "conversations":
            return await self._delete(entry_path)
        conversation_id = ConversationId(record_id)
        path = conversation_path(uid, conversation_id)
        parts = await self.list_taken(uid, conversation_id)

        async def work(tx: Transaction) -> int | None:
            entry_document, document = await tx.get_many([entry_path, path])
            if entry_document is None:
                return None
            record = load(BinEntry, entry_document).record
            if document is None:
                tx.write(await build_deletion_announcement(tx, uid, conversation_id, now))
            for part in parts:
                tx.write(Delete(_path(uid, part.kind, part.record_id)))
                if part.kind == "recordings":
                    sound_path = f"users/{uid}/recordings/{part.record_id}"
                    tx.write(Set(sound_path, {**part.record}))
            token = record.get("share_token")
            tx.write(Delete(entry_path), Delete(_rest_path(entry_path)))
            tx.write(*([Delete(shared_path(token))] if token else []))
            return int(record.get("text_bytes") or 0) + int(record.get("photo_bytes") or 0)

        return await self._documents.transaction(work)

    async def count_bytes(self, uid: UserId) -> int:
        """Add up what counts as stored: transcripts, photos and sound."""
        query = Query(collection=f"users/{uid}/bin", limit=_BATCH_SIZE)
        return sum(
            [
                int(document.fields["record"].get(name) or 0)
                async for document in iter_documents(self._documents, query)
                for name in ("text_bytes", "photo_bytes", "size")
            ]
        )

    async def _delete(self, path: str) -> int | None:
        async def work(tx: Transaction) -> int | None:
            if await tx.get(path) is None:
                return None
            tx.write(Delete(path))
            return 0

        return await self._documents.transaction(work)

    async def forget_memories(self, uid: UserId) -> None:
        """Delete all memories for good, and keep their conversations from bringing them back."""
        query = Query(
            collection=f"users/{uid}/bin",
            where=(Where("kind", "==", "memories"),),
            limit=_BATCH_SIZE,
        )
        while documents := await self._documents.query(query):
            entries = load_all(BinEntry, documents)
            marks = [
                Set(
                    tombstone_path(conversation_path(uid, entry.taken_by), entry.record_id),
                    {"of": "memories"},
                )
                for entry in entries
                if entry.taken_by is not None
            ]
            await self._documents.write(*marks, *(Delete(document.path) for document in documents))

    async def _read_source(
        self, tx: Transaction, uid: UserId, conversation_id: ConversationId | None, path: str
    ) -> tuple[Document | None, Document | None, Document | None]:
        """Return where a record comes from, in the library and in the bin, and what stands at its path."""
        if conversation_id is None:
            return None, None, await tx.get(path)
        source, binned, stored = await tx.get_many(
            [conversation_path(uid, conversation_id), bin_path(uid, conversation_id), path]
        )
        return source, binned, stored


def build_entry_write(uid: UserId, entry: BinEntry, record: Mapping[str, object]) -> Set:
    """Return the write that keeps a record which another write of its commit deletes."""
    return Set(_path(uid, entry.kind, entry.record_id), dump(replace(entry, record={**record})))


def bin_path(uid: UserId, conversation_id: ConversationId) -> str:
    """Return the path of a conversation in the bin."""
    return _path(uid, "conversations", conversation_id)


def _path(uid: UserId, kind: BinKind | PartKind, record_id: str) -> str:
    return f"users/{uid}/bin/{kind}-{record_id}"


def _rest_path(entry_path: str) -> str:
    return f"{entry_path}/records/rest"


def _build_move(uid: UserId, entry: BinEntry, document: Document | None) -> list[Write]:
    if document is None:
        return []
    kept, rest = _split(document.fields)
    rest_path = _rest_path(_path(uid, entry.kind, entry.record_id))
    apart = [Set(rest_path, rest)] if rest else []
    return [build_entry_write(uid, entry, kept), *apart, Delete(document.path)]


def _split(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Take the largest field out of a large record."""
    sizes = {name: len(repr(value)) for name, value in record.items()}
    if sum(sizes.values()) < _LARGE_CHARS:
        return record, {}
    largest = max(sizes, key=lambda name: sizes[name])
    kept = {name: value for name, value in record.items() if name != largest}
    return kept, {largest: record[largest]}


def _require(document: Document | None, now: datetime) -> BinEntry:
    """Raises NotFound."""
    for entry in load_all(BinEntry, [document]):
        if entry.due_at is not None and entry.due_at > now:
            return entry
    raise NotFound(NOTHING_FOUND)


async def _build_corrections(
    tx: Transaction, uid: UserId, entries: Sequence[BinEntry]
) -> list[Write]:
    """Return the writes by which memories are corrected again that no other corrected meanwhile."""
    correctors = {name: entry for entry in entries for name in entry.corrected}
    found = await tx.get_many([f"users/{uid}/memories/{name}" for name in correctors])
    return [
        Update(
            document.path,
            {
                "valid_to": correctors[MemoryId(document.id)].corrected[MemoryId(document.id)],
                "superseded_by": correctors[MemoryId(document.id)].record_id,
            },
        )
        for document in found
        if document is not None and document.fields.get("superseded_by") is None
    ]


def _list_marks(uid: UserId, memory: Memory) -> list[str]:
    """Return the paths of what keeps a deleted memory from being derived again."""
    own = [(memory.conversation_id, memory.id)] if memory.conversation_id else []
    repeated = [(name, build_derived_id(name, "memory", memory.content)) for name in memory.seen_in]
    marks = [tombstone_path(conversation_path(uid, name), of) for name, of in (*own, *repeated)]
    return [forgotten_path(uid, memory.id), *marks]
