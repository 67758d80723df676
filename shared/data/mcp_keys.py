"""MCP keys: credentials by which other programs use a user's library over MCP."""

import hashlib
from datetime import datetime
from typing import Final

from shared.data.codec import dump, load, load_all
from shared.domain.documents import Create, Delete, Query
from shared.domain.errors import NotAuthenticated, NotFound
from shared.domain.ids import UserId, is_id
from shared.domain.mcp_key import McpKey
from shared.ports import Documents

KEY_PREFIX: Final = "ks_mcp_"
_KEY_PREFIXES = (KEY_PREFIX, "omi_mcp_")
"""Clients that were written for the old product's keys look for its prefix."""
MAX_KEYS: Final = 20


class McpKeys:
    """A key names its user, so that no look-up crosses users, and is stored as a hash."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def add(self, uid: UserId, key: McpKey) -> None:
        await self._documents.write(Create(_document_path(uid, key.id), dump(key)))

    async def list_all(self, uid: UserId) -> list[McpKey]:
        query = Query(collection=f"users/{uid}/mcp_keys", limit=MAX_KEYS)
        return load_all(McpKey, await self._documents.query(query))

    async def remove(self, uid: UserId, key_id: str) -> None:
        """Raises NotFound."""
        if await self._documents.get(_document_path(uid, key_id)) is None:
            raise NotFound("Key not found")
        await self._documents.write(Delete(_document_path(uid, key_id)))

    async def authenticate(self, key: str, now: datetime) -> tuple[UserId, McpKey]:
        """Return whose key this is, and the key as stored. Raises NotAuthenticated."""
        uid = parse_owner(key)
        document = await self._documents.get(_document_path(uid, key_id(key)))
        if document is None:
            raise NotAuthenticated("Invalid authorization token")
        stored_key = load(McpKey, document)
        if stored_key.expires_at is not None and stored_key.expires_at <= now:
            raise NotAuthenticated("This key has expired; create another one.")
        return uid, stored_key


def parse_owner(key: str) -> UserId:
    """Return the user that a key names, which proves nothing. Raises NotAuthenticated."""
    uid, dot, secret = _strip_prefix(key).partition(".")
    if not (dot and secret and is_id(uid)):
        raise NotAuthenticated("Invalid authorization token")
    return UserId(uid)


def key_id(key: str) -> str:
    """Hash a key without its prefix, as it is stored."""
    return hashlib.sha256(_strip_prefix(key).encode()).hexdigest()


def _strip_prefix(key: str) -> str:
    for prefix in _KEY_PREFIXES:
        if key.startswith(prefix):
            return key.removeprefix(prefix)
    raise NotAuthenticated("Invalid authorization token")


def _document_path(uid: UserId, name: str) -> str:
    return f"users/{uid}/mcp_keys/{name}"
