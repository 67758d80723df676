"""Documents of which those of sealed chats are a cache: sealed, apart from all others, for 24 hours.

A chat, a message, a run or an embed whose id is marked as sealed stands in a collection of its own, which
no other store and no list reads. Its fields are encrypted by AES-256-GCM under its user's data key,
bound to its path, in which stand the user, the chat and the document; in clear is only what queries and
leases need. What expired or cannot be decrypted is as if it were not there.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from shared.adapters import document_json
from shared.domain.chats.sealed_chat import CACHE_TTL
from shared.domain.chats.storage_mode import is_sealed
from shared.domain.ids import UserId
from shared.domain.store.documents import Create, Delete, Document, Query, Set, Update, Write
from shared.ports import Clock, Documents, Transaction

if TYPE_CHECKING:
    from shared.data.account.data_keys import DataKey, DataKeys

T = TypeVar("T")

_COLLECTIONS = frozenset({"chat_sessions", "messages", "runs", "embeds", "history_requests"})
_PREFIX = "sealed_"
_CLEAR_FIELDS = frozenset(
    {
        "session_id",
        "session_ids",
        "sender",
        "created_at",
        "updated_at",
        "expires_at",
        "message_count",
        "voices",
        "writer",
        "lease_until",
        "signal",
        "outcome",
        "last_seq",
        "closing",
    }
)
_SEALED, _CHANGED = "sealed", "changed"
"""The fields of a stored document: what it began with, and what was changed since, by name."""
_KEY_ID_BYTES = 8
_NONCE_BYTES = 12


class SealedDocuments:
    """Documents that keep those of sealed chats, known by their ids, for CACHE_TTL."""

    def __init__(self, documents: Documents, data_keys: "DataKeys", clock: Clock) -> None:
        self._documents = documents
        self._data_keys = data_keys
        self._clock = clock

    async def get(self, path: str) -> Document | None:
        return (await self.get_many([path]))[0]

    async def get_many(
        self, paths: Sequence[str], *, known: Mapping[str, str] | None = None
    ) -> list[Document | None]:
        stored = await self._documents.get_many([_place(path) for path in paths])
        return [await self._open(path, found) for path, found in zip(paths, stored, strict=True)]

    async def query(self, query: Query) -> list[Document]:
        placed = _place_query(query)
        if placed is None:
            return await self._documents.query(query)
        is_clear = query.fields is not None and _CLEAR_FIELDS.issuperset(query.fields)
        stored = await self._documents.query(placed if is_clear else replace(placed, fields=None))
        named = [replace(found, path=f"{query.collection}/{found.id}") for found in stored]
        if is_clear:
            return named
        opened = [await self._open(document.path, document) for document in named]
        return [document for document in opened if document is not None]

    async def count(self, query: Query) -> int:
        return await self._documents.count(_place_query(query) or query)

    async def sum(self, query: Query, fields: Sequence[str]) -> list[int]:
        return await self._documents.sum(_place_query(query) or query, fields)

    async def write(self, *writes: Write) -> None:
        await self._documents.write(*await self._seal_all(writes))

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        async def run_sealed(transaction: Transaction) -> T:
            buffered = _BufferedTransaction(self, transaction)
            result = await work(buffered)
            transaction.write(*await self._seal_all(buffered.writes))
            return result

        return await self._documents.transaction(run_sealed)

    async def delete_tree(self, path: str) -> int:
        return await self._documents.delete_tree(_place(path))

    async def open_all(
        self, paths: Sequence[str], stored: Sequence[Document | None]
    ) -> list[Document | None]:
        return [await self._open(path, found) for path, found in zip(paths, stored, strict=True)]

    async def _open(self, path: str, stored: Document | None) -> Document | None:
        """Return a document as it was written; None where it expired or cannot be decrypted."""
        place = _place(path)
        if stored is None or place == path:
            return stored
        fields = dict(stored.fields)
        whole, changed = fields.pop(_SEALED, None), fields.pop(_CHANGED, {})
        if whole is None or fields["expires_at"] <= self._clock.now():
            return None
        key = await self._data_keys.find(_get_uid(path), whole[:_KEY_ID_BYTES])
        if key is None:
            return None
        blobs = {"": whole, **changed}
        for name, blob in blobs.items():
            content = _decrypt(key, blob, place, name)
            if content is None:
                return None
            fields |= content
        return replace(stored, path=path, fields=fields)

    async def _seal_all(self, writes: Sequence[Write]) -> list[Write]:
        return [await self._seal(write) for write in writes]

    async def _seal(self, write: Write) -> Write:
        place = _place(write.path, _find_session_id(write))
        if place == write.path:
            return write
        match write:
            case Delete(version=version):
                return Delete(place, version=version)
            case Update(changes=changes, version=version):
                key = await self._data_keys.get_or_create(_get_uid(place))
                return Update(place, _seal_changes(key, changes, place), version=version)
            case Create(fields=fields) | Set(fields=fields):
                key = await self._data_keys.get_or_create(_get_uid(place))
                return type(write)(place, self._seal_fields(key, fields, place))

    def _seal_fields(
        self, key: "DataKey", fields: Mapping[str, Any], place: str
    ) -> Mapping[str, Any]:
        content = {name: field for name, field in fields.items() if name not in _CLEAR_FIELDS}
        clear = {name: field for name, field in fields.items() if name in _CLEAR_FIELDS}
        return {
            **clear,
            "expires_at": self._limit_expiry(fields.get("expires_at")),
            _SEALED: _encrypt(key, content, place, ""),
        }

    def _limit_expiry(self, wanted: datetime | None) -> datetime:
        latest = self._clock.now() + CACHE_TTL
        return min(wanted, latest) if wanted else latest


class _BufferedTransaction:
    """A transaction whose writes are sealed when its closure returns."""

    def __init__(self, documents: SealedDocuments, transaction: Transaction) -> None:
        self._documents = documents
        self._transaction = transaction
        self.writes: list[Write] = []

    async def get(self, path: str) -> Document | None:
        return (await self.get_many([path]))[0]

    async def get_many(self, paths: Sequence[str]) -> list[Document | None]:
        stored = await self._transaction.get_many([_place(path) for path in paths])
        return await self._documents.open_all(paths, stored)

    def write(self, *writes: Write) -> None:
        self.writes += writes


def _place(path: str, session_id: str = "") -> str:
    """Return where a document `users/{uid}/{collection}/{id}/…` stands."""
    parts = path.split("/")
    is_of_chat = len(parts) >= 4 and parts[2] in _COLLECTIONS
    if not is_of_chat or not (is_sealed(parts[3]) or is_sealed(session_id)):
        return path
    return "/".join([*parts[:2], _PREFIX + parts[2], *parts[3:]])


def _place_query(query: Query) -> Query | None:
    """Return the query over what is sealed; None where it asks for something else."""
    sessions = [
        where.value for where in query.where if where.field in ("session_id", "session_ids")
    ]
    session_id = next((name for name in sessions if isinstance(name, str)), "")
    place = _place(f"{query.collection}/{session_id}", session_id).rpartition("/")[0]
    return None if place == query.collection else replace(query, collection=place)


def _find_session_id(write: Write) -> str:
    """Return the chat of a new document, which may be sealed where its own id does not say so."""
    session_id = write.fields.get("session_id") if isinstance(write, Create | Set) else None
    return session_id if isinstance(session_id, str) else ""


def _get_uid(path: str) -> UserId:
    return UserId(path.split("/")[1])


def _seal_changes(key: "DataKey", changes: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    """Return changes of which each sealed one, a whole field, stands beside what a document began with."""
    clear = {name: change for name, change in changes.items() if name in _CLEAR_FIELDS}
    sealed = {
        f"{_CHANGED}.{name}": _encrypt(key, {name: change}, place, name)
        for name, change in changes.items()
        if name not in _CLEAR_FIELDS
    }
    return clear | sealed


def _encrypt(key: "DataKey", content: Mapping[str, Any], place: str, name: str) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(_NONCE_BYTES)
    plain = document_json.dumps(content).encode()
    return key.id + nonce + AESGCM(key.secret).encrypt(nonce, plain, _bind(place, name))


def _decrypt(key: "DataKey", blob: bytes, place: str, name: str) -> dict[str, Any] | None:
    """Return what was encrypted at this place; None for anything else."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce, sealed = blob[_KEY_ID_BYTES:][:_NONCE_BYTES], blob[_KEY_ID_BYTES + _NONCE_BYTES :]
    try:
        plain = AESGCM(key.secret).decrypt(nonce, sealed, _bind(place, name))
    except (InvalidTag, ValueError):
        return None
    content: dict[str, Any] = document_json.loads(plain.decode())
    return content


def _bind(place: str, name: str) -> bytes:
    return f"{place}#{name}".encode()
