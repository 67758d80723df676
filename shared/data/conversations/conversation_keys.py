"""Conversation keys: what lists sort and filter by, for all conversations of a user in few documents.

Who changes a conversation does not write them. Each write of a field that stands in a key stamps
`listed_at` on the conversation, and the next reader takes in what was stamped since the last one.

Also called: materialized view, denormalization.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, get_args

from shared.data.store.paging import iter_documents
from shared.domain.conversations.conversation import ConversationStatus
from shared.domain.errors import PreconditionFailed, Unavailable
from shared.domain.ids import ConversationId, FolderId, UserId
from shared.domain.store.documents import (
    Create,
    Document,
    Order,
    Query,
    Update,
    Where,
    Write,
)
from shared.domain.value import value
from shared.ports import Documents

MAX_KEYS = 2_000
"""Keys of one document: about 200 KB, and 500 KB where all ids are long."""
MAX_WRITTEN = 10
"""Key documents that one commit writes."""
MAX_CACHED_TEXTS = 8
"""Decoded key documents that a process keeps: about a megabyte each."""
OVERLAP = timedelta(minutes=2)
"""A write may be stored this long after its stamp: clocks differ, and transactions run again."""
_PAGE_SIZE = 500
_MAX_ATTEMPTS = 3
_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_STATUSES = get_args(ConversationStatus)


class ConversationKey(NamedTuple):
    """A conversation as lists see it. Of two, the greater one was created later.

    A named tuple, because thousands are made for one list.
    """

    created_at: datetime
    id: ConversationId
    status: ConversationStatus = "processing"
    discarded: bool = False
    starred: bool = False
    folder_id: FolderId | None = None


KEY_FIELDS = ("created_at", "status", "discarded", "starred", "folder_id")
_Keys = dict[ConversationId, ConversationKey]
_Changes = dict[ConversationId, ConversationKey | None]


@value
class _StoredKeys:
    """The keys as stored: each document's, and when a reader last took in changes."""

    documents: Sequence[Document]
    keys: Sequence[Mapping[ConversationId, ConversationKey]]
    merged_at: datetime | None

    def merge(self) -> _Keys:
        return {name: key for keys in self.keys for name, key in keys.items()}


class ConversationKeys:
    """The keys of a user's conversations."""

    def __init__(self, documents: Documents, *, max_keys: int = MAX_KEYS) -> None:
        """Put at most `max_keys` keys into a document."""
        self._documents = documents
        self._max_keys = max_keys

    async def load(self, uid: UserId, *, now: datetime) -> list[ConversationKey]:
        """Return the keys of all conversations, newest first, with all changes until now.

        Reads the key documents and what changed since the last call; the first call reads everything.
        A conversation that was just deleted may still be among them.
        """
        stored = await self._read(uid)
        changed = await self._list_changed(uid, stored.merged_at)
        current = {**stored.merge(), **changed}
        if _is_worth_storing(stored, changed, now):
            documents = _apply_changes(stored.keys, changed, self._max_keys)
            with suppress(PreconditionFailed, Unavailable):  # another reader was faster
                await self._store(uid, stored, documents, now)
        return sorted(filter(None, current.values()), reverse=True)

    async def _store(
        self, uid: UserId, stored: _StoredKeys, documents: Sequence[_Keys], now: datetime
    ) -> None:
        """Write what changed; in several commits, the last one says that the changes are taken in.

        Raises PreconditionFailed where another reader wrote meanwhile.
        """
        writes = [*_build_writes(uid, stored, documents, now)]
        if len(writes) > MAX_WRITTEN:
            writes = [*_build_writes(uid, stored, documents, stored.merged_at)]
            writes.append(Update(_document_path(uid, 0), {"merged_at": now}))
        for n in range(0, len(writes), MAX_WRITTEN):
            await self._documents.write(*writes[n : n + MAX_WRITTEN])

    async def forget(self, uid: UserId, ids: Iterable[ConversationId]) -> None:
        """Remove the keys of deleted conversations; lists remove those that are left."""
        gone = dict.fromkeys(ids)
        for _ in range(_MAX_ATTEMPTS):
            stored = await self._read(uid)
            writes = list(_build_removals(stored, gone))
            if not writes:
                return
            with suppress(PreconditionFailed, Unavailable):
                await self._documents.write(*writes)
                return

    async def _read(self, uid: UserId) -> _StoredKeys:
        documents = await self._documents.query(Query(collection=_collection_path(uid)))
        in_order = sorted(documents, key=lambda document: int(document.id))
        return _StoredKeys(
            documents=in_order,
            keys=[_decode(document.fields["keys"]) for document in in_order],
            merged_at=in_order[0].fields["merged_at"] if in_order else None,
        )

    async def _list_changed(self, uid: UserId, merged_at: datetime | None) -> _Changes:
        """Return the keys that were stamped since, or all; None for what is not listed."""
        field = "listed_at" if merged_at else "created_at"
        query = Query(
            collection=f"users/{uid}/conversations",
            where=(Where(field, ">", merged_at - OVERLAP if merged_at else _EARLIEST),),
            order_by=(Order(field),),
            limit=_PAGE_SIZE,
            fields=tuple({*KEY_FIELDS, "merged_into", field}),
        )
        return {
            ConversationId(document.id): _build_key(document)
            async for document in iter_documents(self._documents, query)
        }


def _build_key(document: Document) -> ConversationKey | None:
    """Return the key of a conversation; None for one that was merged, or has no valid time."""
    created_at, *others = (document.fields.get(name) for name in KEY_FIELDS)
    status, discarded, starred, folder_id = others
    is_merged = document.fields.get("merged_into") is not None
    if is_merged or not isinstance(created_at, datetime) or status not in (None, *_STATUSES):
        return None
    return ConversationKey(
        created_at=created_at,
        id=ConversationId(document.id),
        status=status or "processing",
        discarded=bool(discarded),
        starred=bool(starred),
        folder_id=folder_id,
    )


def _is_worth_storing(stored: _StoredKeys, changed: _Changes, now: datetime) -> bool:
    """Tell whether a later reader would have to read the same changes again."""
    if not changed or stored.merged_at is None:
        return any(changed.values())
    known = stored.merge()
    is_news = any(known.get(name) != key for name, key in changed.items())
    return is_news or stored.merged_at < now - OVERLAP


def _apply_changes(
    stored: Sequence[Mapping[ConversationId, ConversationKey]], changed: _Changes, max_keys: int
) -> Sequence[_Keys]:
    """Return the keys of each document: a changed one where it stands, a new one at the end."""
    documents = [dict(keys) for keys in stored]
    for name, key in sorted(changed.items()):
        place = next((keys for keys in documents if name in keys), None)
        if place is None and key is not None:
            if not documents or len(documents[-1]) >= max_keys:
                documents.append({})
            place = documents[-1]
        if place is not None and key is not None:
            place[name] = key
        elif place is not None:
            del place[name]
    return documents


def _build_writes(
    uid: UserId, stored: _StoredKeys, documents: Sequence[_Keys], taken_in_until: datetime | None
) -> Iterator[Write]:
    """Yield the writes of the documents that changed; each depends on what was read."""
    for number, keys in enumerate(documents):
        merged_at = {"merged_at": taken_in_until} if number == 0 else {}
        if number >= len(stored.documents):
            yield Create(_document_path(uid, number), {"keys": _encode(keys), **merged_at})
        elif merged_at or keys != stored.keys[number]:
            before = stored.documents[number]
            yield Update(before.path, {"keys": _encode(keys), **merged_at}, before.version)


def _build_removals(stored: _StoredKeys, gone: Mapping[ConversationId, object]) -> Iterator[Write]:
    for document, keys in zip(stored.documents, stored.keys, strict=True):
        left = {name: key for name, key in keys.items() if name not in gone}
        if len(left) < len(keys):
            yield Update(document.path, {"keys": _encode(left)}, document.version)


def _encode(keys: _Keys) -> str:
    """Write keys as JSON text: a list would be indexed, and takes longer to read."""
    rows = [[key.created_at.isoformat(), *key[1:]] for key in keys.values()]
    return json.dumps(rows, separators=(",", ":"))


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _decode(text: str) -> Mapping[ConversationId, ConversationKey]:
    return {
        row[1]: ConversationKey(datetime.fromisoformat(row[0]), *row[1:])
        for row in json.loads(text)
    }


def _collection_path(uid: UserId) -> str:
    return f"users/{uid}/conversation_keys"


def _document_path(uid: UserId, number: int) -> str:
    return f"{_collection_path(uid)}/{number}"
