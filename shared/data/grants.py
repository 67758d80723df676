"""The tokens of connected accounts, wrapped; only the tool proxy may import this."""

from datetime import datetime

from shared.data.codec import dump, load, type_adapter
from shared.data.connections import connection_path
from shared.data.refresh_claims import RefreshClaims
from shared.domain.connection import AccountTokens, Authorization, Connection, Service, Tokens
from shared.domain.documents import Create, Delete, Document, Set, Update
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import UserId
from shared.ports import Documents, Keys


class AccountTokenStore:
    """Tokens by user and service; wrapped for both, so that no other document can hold them."""

    def __init__(self, documents: Documents, keys: Keys) -> None:
        self._documents = documents
        self._keys = keys
        self._claims = RefreshClaims(documents)

    async def get(self, uid: UserId, service: Service) -> AccountTokens | None:
        """Raises CannotUnwrap."""
        document = await self._documents.get(_document_path(uid, service))
        return None if document is None else await self._unwrap_grant(uid, service, document)

    async def _unwrap_grant(
        self, uid: UserId, service: Service, document: Document
    ) -> AccountTokens:
        fields = document.fields
        secret = await self._keys.unwrap(fields["tokens"], bound_to=_build_binding(uid, service))
        tokens: Tokens = type_adapter(Tokens).validate_json(secret)
        return AccountTokens(tokens=tokens, version=document.version, health=fields["health"])

    async def put(self, uid: UserId, connection: Connection, tokens: Tokens) -> None:
        """Store a new connection, in the place of an earlier one."""
        connection_fields = dump(connection)
        wrapped_tokens = await self._wrap(uid, connection.id, tokens)
        token_fields = {
            **connection_fields,
            "tokens": wrapped_tokens,
            "expires_at": tokens.expires_at,
        }
        await self._documents.write(
            Set(_document_path(uid, connection.id), token_fields),
            Set(connection_path(uid, connection.id), connection_fields),
        )

    async def replace(
        self, uid: UserId, service: Service, grant: AccountTokens, tokens: Tokens
    ) -> None:
        """Store what `grant` was exchanged for. Raises PreconditionFailed if it is not the last."""
        wrapped_tokens = await self._wrap(uid, service, tokens)
        changes = {"tokens": wrapped_tokens, "expires_at": tokens.expires_at}
        await self._documents.write(
            Update(_document_path(uid, service), changes, version=grant.version)
        )

    async def expire(self, uid: UserId, service: Service, grant: AccountTokens) -> None:
        """Remember that only the owner can mend it. Raises PreconditionFailed as replace() does."""
        changes = {"health": "expired"}
        await self._documents.write(
            Update(_document_path(uid, service), changes, version=grant.version),
            Update(connection_path(uid, service), changes),
        )

    async def remove(self, uid: UserId, service: Service) -> None:
        await self._documents.delete_tree(_document_path(uid, service))
        await self._documents.write(Delete(connection_path(uid, service)))

    async def claim(self, uid: UserId, service: Service, holder: str, *, now: datetime) -> bool:
        """Take the right to refresh for a while, unless another holder has it."""
        return await self._claims.acquire(_document_path(uid, service), holder, now=now)

    async def release(self, uid: UserId, service: Service, holder: str) -> None:
        """Give the right back, unless it was taken over."""
        await self._claims.release(_document_path(uid, service), holder)

    async def _wrap(self, uid: UserId, service: Service, tokens: Tokens) -> bytes:
        secret = type_adapter(Tokens).dump_json(tokens)
        return await self._keys.wrap(secret, bound_to=_build_binding(uid, service))


class Authorizations:
    """Users who were sent to a service and may come back, each once."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def add(self, uid: UserId, authorization: Authorization) -> None:
        path = f"users/{uid}/authorizations/{authorization.id}"
        await self._documents.write(Create(path, dump(authorization)))

    async def consume(self, uid: UserId, name: str, *, now: datetime) -> Authorization | None:
        """Return it to one caller only; None for everybody else, and when it is too late."""
        document = await self._documents.get(f"users/{uid}/authorizations/{name}")
        if document is None:
            return None
        try:
            await self._documents.write(Delete(document.path, version=document.version))
        except PreconditionFailed:
            return None
        authorization = load(Authorization, document)
        return authorization if now < authorization.expires_at else None


def _document_path(uid: UserId, service: Service) -> str:
    return f"users/{uid}/integrations/{service}"


def _build_binding(uid: UserId, service: Service) -> str:
    return f"{uid}|{service}"
