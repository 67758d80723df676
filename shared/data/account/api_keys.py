"""API keys: credentials by which other programs use a user's library, over MCP or the developer API."""

import hashlib
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, Generic, Protocol, TypeVar

from shared.data.store.codec import dump, load, load_all
from shared.domain.account.api_key import DeveloperKey, McpKey
from shared.domain.errors import (
    Conflict,
    NotAuthenticated,
    NotFound,
    PreconditionFailed,
    Unavailable,
)
from shared.domain.ids import UserId, is_id
from shared.domain.store.documents import Create, Delete, Query, Set, Update, Write
from shared.ports import Documents, Transaction

MAX_KEYS: Final = 20
"""Keys of one kind that a user has at a time."""
USE_PRECISION: Final = timedelta(hours=1)
"""A use is recorded no more often than this: each record is a write."""
_LABEL_CHARS = 4


class StoredKey(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...

    @property
    def expires_at(self) -> datetime | None: ...

    @property
    def last_used_at(self) -> datetime | None: ...


K = TypeVar("K", bound=StoredKey)


class ApiKeys(Generic[K]):
    """Keys of one kind. A key names its user, so that no look-up crosses users, and is stored as a hash.

    `prefixes` are those that a key of this kind may begin with; the first is the one of new keys.
    """

    kind: type[K]
    collection: str
    prefixes: tuple[str, ...]

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def build_secret(self, uid: UserId, random_text: str) -> str:
        """Return a new key, which only its user ever sees."""
        return f"{self.prefixes[0]}{uid}.{random_text}"

    def build_label(self, key: str) -> str:
        """Return what people recognise a key by: its prefix and its end."""
        return f"{self.prefixes[0]}…{key[-_LABEL_CHARS:]}"

    async def add(self, uid: UserId, key: K) -> None:
        """Raises Conflict for a user who has MAX_KEYS."""
        stored_ids = [stored.id for stored in await self.list_all(uid)]

        async def work(tx: Transaction) -> None:
            listing = await tx.get(self._list_path(uid))
            ids = listing.fields["ids"] if listing else stored_ids
            if len(ids) >= MAX_KEYS:
                raise Conflict(f"You may have {MAX_KEYS} keys; remove one first.")
            tx.write(Create(self._path(uid, key.id), dump(key)))
            tx.write(self._build_listing(uid, [*ids, key.id]))

        await self._documents.transaction(work)

    async def list_all(self, uid: UserId) -> list[K]:
        """List the newest first."""
        query = Query(collection=f"users/{uid}/{self.collection}", limit=MAX_KEYS)
        keys = load_all(self.kind, await self._documents.query(query))
        return sorted(keys, key=lambda key: key.created_at, reverse=True)

    async def remove(self, uid: UserId, key_id: str) -> None:
        """End a key, at once. Raises NotFound."""
        if not is_id(key_id):
            raise NotFound("Key not found")

        async def work(tx: Transaction) -> None:
            document = await tx.get(self._path(uid, key_id))
            listing = await tx.get(self._list_path(uid))
            if document is None:
                raise NotFound("Key not found")
            tx.write(Delete(document.path))
            if listing is not None:
                other_ids = [other for other in listing.fields["ids"] if other != key_id]
                tx.write(self._build_listing(uid, other_ids))

        await self._documents.transaction(work)

    async def remove_all(self, uid: UserId) -> None:
        """End all keys of this kind, at once."""
        for key in await self.list_all(uid):
            with suppress(NotFound):  # somebody ended it meanwhile
                await self.remove(uid, key.id)

    async def authenticate(self, key: str, now: datetime) -> tuple[UserId, K]:
        """Return whose key this is, and the key as stored. Raises NotAuthenticated."""
        uid = self.parse_owner(key)
        document = await self._documents.get(self._path(uid, self.hash(key)))
        if document is None:
            raise NotAuthenticated("Invalid authorization token")
        stored_key = load(self.kind, document)
        if stored_key.expires_at is not None and stored_key.expires_at <= now:
            raise NotAuthenticated("This key has expired; create another one.")
        await self._record_use(uid, stored_key, now)
        return uid, stored_key

    async def _record_use(self, uid: UserId, key: K, now: datetime) -> None:
        if key.last_used_at is not None and now - key.last_used_at < USE_PRECISION:
            return
        with suppress(PreconditionFailed, Unavailable):  # it was deleted, or others record it too
            await self._documents.write(Update(self._path(uid, key.id), {"last_used_at": now}))

    def parse_owner(self, key: str) -> UserId:
        """Return the user that a key names, which proves nothing. Raises NotAuthenticated."""
        uid, dot, secret = self._strip_prefix(key).partition(".")
        if not (dot and secret and is_id(uid)):
            raise NotAuthenticated("Invalid authorization token")
        return UserId(uid)

    def hash(self, key: str) -> str:
        """Hash a key without its prefix, as it is stored."""
        return hashlib.sha256(self._strip_prefix(key).encode()).hexdigest()

    def _strip_prefix(self, key: str) -> str:
        for prefix in self.prefixes:
            if key.startswith(prefix):
                return key.removeprefix(prefix)
        raise NotAuthenticated("Invalid authorization token")

    def _build_listing(self, uid: UserId, ids: list[str]) -> Write:
        """Return the write of the list of ids that every addition and removal goes through."""
        return Set(self._list_path(uid), {"ids": ids})

    def _path(self, uid: UserId, name: str) -> str:
        return f"users/{uid}/{self.collection}/{name}"

    def _list_path(self, uid: UserId) -> str:
        return f"users/{uid}/key_lists/{self.collection}"


class McpKeys(ApiKeys[McpKey]):
    """Keys of MCP clients; the old product's prefix is the one that its clients look for."""

    kind = McpKey
    collection = "mcp_keys"
    prefixes = ("ks_mcp_", "omi_mcp_")


class DeveloperKeys(ApiKeys[DeveloperKey]):
    """Keys of the developer API."""

    kind = DeveloperKey
    collection = "developer_keys"
    prefixes = ("ks_dev_", "omi_dev_")
