"""Authorization store: users who were sent away to allow access, and may come back once."""

from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from shared.data.store.codec import dump, load, type_adapter
from shared.domain.apps.connection import Authorization
from shared.domain.apps.mcp_authorization import McpAuthorization
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import UserId
from shared.domain.store.documents import Create, Delete, Document
from shared.ports import Documents, Keys


class ExpiringAuthorization(Protocol):
    """An authorization that ends at `expires_at`."""

    @property
    def expires_at(self) -> datetime: ...


A = TypeVar("A", bound=ExpiringAuthorization)


class AuthorizationStore(Generic[A]):
    """Authorizations of one type, below `users/{uid}/{collection}`.

    With `keys` they are wrapped, for the document that they stand in.
    """

    def __init__(
        self,
        documents: Documents,
        *,
        collection: str,
        authorization_type: type[A],
        keys: Keys | None = None,
    ) -> None:
        self._documents = documents
        self._keys = keys
        self._collection = collection
        self._type = authorization_type

    async def add(self, uid: UserId, authorization_id: str, authorization: A) -> None:
        path = self._build_path(uid, authorization_id)
        await self._documents.write(Create(path, await self._encode(path, authorization)))

    async def consume(self, uid: UserId, authorization_id: str, *, now: datetime) -> A | None:
        """Return it to one caller only; None to all others, and when it has expired."""
        document = await self._documents.get(self._build_path(uid, authorization_id))
        if document is None:
            return None
        try:
            await self._documents.write(Delete(document.path, version=document.version))
        except PreconditionFailed:
            return None
        authorization = await self._decode(document)
        return authorization if now < authorization.expires_at else None

    async def _encode(self, path: str, authorization: A) -> dict[str, Any]:
        if self._keys is None:
            return dump(authorization)
        secret = type_adapter(self._type).dump_json(authorization)
        wrapped_secret = await self._keys.wrap(secret, bound_to=path)
        return {"sealed": wrapped_secret, "expires_at": authorization.expires_at}

    async def _decode(self, document: Document) -> A:
        if self._keys is None:
            return load(self._type, document)
        secret = await self._keys.unwrap(document.fields["sealed"], bound_to=document.path)
        authorization: A = type_adapter(self._type).validate_json(secret)
        return authorization

    def _build_path(self, uid: UserId, authorization_id: str) -> str:
        return f"users/{uid}/{self._collection}/{authorization_id}"


def build_account_authorization_store(documents: Documents) -> AuthorizationStore[Authorization]:
    """Store authorizations of accounts at services."""
    return AuthorizationStore(
        documents, collection="authorizations", authorization_type=Authorization
    )


def build_mcp_authorization_store(
    documents: Documents, keys: Keys
) -> AuthorizationStore[McpAuthorization]:
    """Store authorizations of MCP servers, wrapped: they hold the secret of our client there."""
    return AuthorizationStore(
        documents,
        collection="mcp_authorizations",
        authorization_type=McpAuthorization,
        keys=keys,
    )
