"""Token store: OAuth tokens of users' accounts, wrapped; only the tool proxy may import this.

One document per user and account holds them in one field. A version names what was read, so that
tokens that were replaced meanwhile are not overwritten: PreconditionFailed.

Also called: optimistic locking, optimistic concurrency, credential storage, token storage.
"""

from datetime import datetime
from typing import Any, Generic, TypeVar

from shared.data.apps.connections import connection_path
from shared.data.apps.refresh_claims import RefreshClaims
from shared.data.store.codec import dump, type_adapter
from shared.domain.apps.connection import Connection, Service, StoredTokens, Tokens
from shared.domain.apps.mcp_authorization import McpTokens
from shared.domain.ids import UserId
from shared.domain.store.documents import Delete, Set, Update
from shared.ports import Documents, Keys

T = TypeVar("T")


class TokenStore(Generic[T]):
    """Tokens of one type, in `field` of the documents below `users/{uid}/{collection}`.

    They are wrapped for one user, one account and the server that they are sent to, `audience`: in
    another document, or for another server, they cannot be unwrapped.
    """

    def __init__(
        self,
        documents: Documents,
        keys: Keys,
        *,
        collection: str,
        field: str,
        tokens_type: type[T],
    ) -> None:
        self._documents = documents
        self._keys = keys
        self._claims = RefreshClaims(documents)
        self._collection = collection
        self._field = field
        self._tokens_type = tokens_type

    async def get(self, uid: UserId, name: str, *, audience: str = "") -> StoredTokens[T] | None:
        """Raises CannotUnwrap."""
        document = await self._documents.get(self._build_path(uid, name))
        if document is None:
            return None
        binding = _build_binding(uid, name, audience)
        secret = await self._keys.unwrap(document.fields[self._field], bound_to=binding)
        return StoredTokens(
            tokens=type_adapter(self._tokens_type).validate_json(secret),
            version=document.version,
            health=document.fields.get("health", "connected"),
        )

    async def put(self, uid: UserId, name: str, tokens: T, *, audience: str = "") -> None:
        """Store new tokens in the place of earlier ones."""
        fields = await self._encode(uid, name, tokens, audience)
        await self._documents.write(Set(self._build_path(uid, name), fields))

    async def replace(
        self, uid: UserId, name: str, old: StoredTokens[T], tokens: T, *, audience: str = ""
    ) -> None:
        """Store what `old` was exchanged for. Raises PreconditionFailed."""
        fields = await self._encode(uid, name, tokens, audience)
        await self._documents.write(
            Update(self._build_path(uid, name), fields, version=old.version)
        )

    async def remove(self, uid: UserId, name: str, old: StoredTokens[T]) -> None:
        """Forget tokens that are of no use any more. Raises PreconditionFailed."""
        await self._documents.write(Delete(self._build_path(uid, name), version=old.version))

    async def delete(self, uid: UserId, name: str) -> None:
        """Forget tokens, whichever are stored."""
        await self._documents.delete_tree(self._build_path(uid, name))

    async def claim(self, uid: UserId, name: str, holder: str, *, now: datetime) -> bool:
        """Take the right to refresh for a while, unless another holder has it."""
        return await self._claims.acquire(self._build_path(uid, name), holder, now=now)

    async def release(self, uid: UserId, name: str, holder: str) -> None:
        """Give the right back, unless it was taken over."""
        await self._claims.release(self._build_path(uid, name), holder)

    async def _encode(self, uid: UserId, name: str, tokens: T, audience: str) -> dict[str, Any]:
        secret = type_adapter(self._tokens_type).dump_json(tokens)
        binding = _build_binding(uid, name, audience)
        return {self._field: await self._keys.wrap(secret, bound_to=binding)}

    def _build_path(self, uid: UserId, name: str) -> str:
        return f"users/{uid}/{self._collection}/{name}"


class AccountTokenStore(TokenStore[Tokens]):
    """Tokens of accounts at services. The account's Connection is written with them."""

    def __init__(self, documents: Documents, keys: Keys) -> None:
        super().__init__(
            documents, keys, collection="integrations", field="tokens", tokens_type=Tokens
        )

    async def connect(self, uid: UserId, connection: Connection, tokens: Tokens) -> None:
        """Store a new connection in the place of an earlier one."""
        connection_fields = dump(connection)
        token_fields = await self._encode(uid, connection.id, tokens, "")
        await self._documents.write(
            Set(self._build_path(uid, connection.id), {**connection_fields, **token_fields}),
            Set(connection_path(uid, connection.id), connection_fields),
        )

    async def expire(self, uid: UserId, service: Service, old: StoredTokens[Tokens]) -> None:
        """Mark a connection that only its owner can renew. Raises PreconditionFailed."""
        changes = {"health": "expired"}
        await self._documents.write(
            Update(self._build_path(uid, service), changes, version=old.version),
            Update(connection_path(uid, service), changes),
        )

    async def disconnect(self, uid: UserId, service: Service) -> None:
        """Forget an account: its tokens first, then its connection."""
        await self.delete(uid, service)
        await self._documents.write(Delete(connection_path(uid, service)))

    async def _encode(
        self, uid: UserId, name: str, tokens: Tokens, audience: str
    ) -> dict[str, Any]:
        fields = await super()._encode(uid, name, tokens, audience)
        return {**fields, "expires_at": tokens.expires_at}


def build_mcp_token_store(documents: Documents, keys: Keys) -> TokenStore[McpTokens]:
    """Store tokens of users' MCP servers, by app."""
    return TokenStore(
        documents, keys, collection="mcp_grants", field="sealed", tokens_type=McpTokens
    )


def _build_binding(uid: UserId, name: str, audience: str) -> str:
    return f"{uid}|{name}|{audience}" if audience else f"{uid}|{name}"
