"""Data keys: one key for each user, which seals what a process may read again for a day at most.

The key is stored wrapped. Deleting it is the shredding: what it sealed is unreadable from then on, in
every process that had it in memory after five minutes at most.

Also called: encryption at rest, envelope encryption, crypto-shredding.
"""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import sha256

from shared.domain.errors import AlreadyExists, CannotUnwrap, PreconditionFailed
from shared.domain.ids import UserId
from shared.domain.store.documents import Create, Delete
from shared.domain.value import value
from shared.ports import Clock, Documents, Keys

KEY_BYTES = 32
KEY_ID_BYTES = 8
CACHE_TTL = timedelta(minutes=5)
MIN_RELOAD_TIME = timedelta(seconds=5)
"""How often a process looks for a newer key than the one that it has."""
MAX_CACHED = 1_000


@value
class DataKey:
    """A key in clear; its id is a hash, and stands before all that it sealed."""

    secret: bytes

    @property
    def id(self) -> bytes:
        return sha256(b"keepsake data key" + self.secret).digest()[:KEY_ID_BYTES]


@value
class _CachedKey:
    key: DataKey
    loaded_at: datetime


class DataKeys:
    """The data keys of users, behind a cache in memory.

    `open_keys` opens what wraps them; it is called with the first of them.
    """

    def __init__(self, documents: Documents, open_keys: Callable[[], Keys], clock: Clock) -> None:
        self._documents = documents
        self._open_keys = open_keys
        self._clock = clock
        self._cache: OrderedDict[UserId, _CachedKey] = OrderedDict()

    @cached_property
    def _keys(self) -> Keys:
        return self._open_keys()

    async def find(self, uid: UserId, key_id: bytes) -> DataKey | None:
        """Return the key that sealed something; None once it was deleted or replaced."""
        cached = self._find_cached(uid)
        is_other = cached is not None and cached.key.id != key_id
        if cached is not None and not (is_other and self._is_reload_due(cached)):
            return None if is_other else cached.key
        key = await self._load(uid)
        return key if key is not None and key.id == key_id else None

    async def get_or_create(self, uid: UserId) -> DataKey:
        """Return the key to seal with."""
        cached = self._find_cached(uid)
        if cached is not None:
            return cached.key
        return await self._load(uid) or await self._create(uid)

    async def shred(self, uid: UserId) -> None:
        """Delete a user's key; the next one is another."""
        self._cache.pop(uid, None)
        await self._documents.write(Delete(_build_path(uid)))

    def _find_cached(self, uid: UserId) -> _CachedKey | None:
        """Return the key in memory, and forget all that were loaded too long ago."""
        stale_at = self._clock.now() - CACHE_TTL
        while self._cache and next(iter(self._cache.values())).loaded_at <= stale_at:
            self._cache.popitem(last=False)
        return self._cache.get(uid)

    def _is_reload_due(self, cached: _CachedKey) -> bool:
        return cached.loaded_at + MIN_RELOAD_TIME <= self._clock.now()

    async def _load(self, uid: UserId) -> DataKey | None:
        """Read the stored key; one that cannot be unwrapped any more makes way for the next."""
        self._cache.pop(uid, None)
        document = await self._documents.get(_build_path(uid))
        if document is None:
            return None
        try:
            secret = await self._keys.unwrap(document.fields["wrapped"], bound_to=_bind(uid))
        except CannotUnwrap:
            await self._discard(document.path, document.version)
            return None
        return self._remember(uid, DataKey(secret=secret))

    async def _discard(self, path: str, version: str) -> None:
        try:
            await self._documents.write(Delete(path, version=version))
        except PreconditionFailed:
            return  # another process made a new one

    async def _create(self, uid: UserId) -> DataKey:
        key = DataKey(secret=secrets.token_bytes(KEY_BYTES))
        wrapped = await self._keys.wrap(key.secret, bound_to=_bind(uid))
        fields = {"wrapped": wrapped, "created_at": self._clock.now()}
        try:
            await self._documents.write(Create(_build_path(uid), fields))
        except AlreadyExists:
            return await self._load(uid) or await self._create(uid)
        return self._remember(uid, key)

    def _remember(self, uid: UserId, key: DataKey) -> DataKey:
        while len(self._cache) >= MAX_CACHED:
            self._cache.popitem(last=False)
        self._cache[uid] = _CachedKey(key=key, loaded_at=self._clock.now())
        return key


def _build_path(uid: UserId) -> str:
    return f"users/{uid}/data_keys/sealed_cache"


def _bind(uid: UserId) -> str:
    return f"{uid}|sealed_cache"
