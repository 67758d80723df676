"""The tokens of connected accounts, wrapped; only the tool proxy may import this."""

from datetime import datetime

from shared.data.codec import adapter, dump, load
from shared.data.connections import connection_path
from shared.data.refresh_claims import RefreshClaims
from shared.domain.connection import Authorization, Connection, Grant, Service, Tokens
from shared.domain.documents import Create, Delete, Document, Set, Update
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import UserId
from shared.ports import Documents, Keys


class Grants:
    """Tokens by user and service; wrapped for both, so that no other document can hold them."""

    def __init__(self, documents: Documents, keys: Keys) -> None:
        self._documents = documents
        self._keys = keys
        self._claims = RefreshClaims(documents)

    async def get(self, uid: UserId, service: Service) -> Grant | None:
        """Raises CannotUnwrap."""
        document = await self._documents.get(_path(uid, service))
        return None if document is None else await self._grant(uid, service, document)

    async def _grant(self, uid: UserId, service: Service, document: Document) -> Grant:
        fields = document.fields
        secret = await self._keys.unwrap(fields["tokens"], bound_to=_bound_to(uid, service))
        tokens: Tokens = adapter(Tokens).validate_json(secret)
        return Grant(tokens=tokens, version=document.version, health=fields["health"])

    async def put(self, uid: UserId, connection: Connection, tokens: Tokens) -> None:
        """Store a new connection, in the place of an earlier one."""
        told = dump(connection)
        wrapped = await self._wrapped(uid, connection.id, tokens)
        held = {**told, "tokens": wrapped, "expires_at": tokens.expires_at}
        await self._documents.write(
            Set(_path(uid, connection.id), held), Set(connection_path(uid, connection.id), told)
        )

    async def replace(self, uid: UserId, service: Service, grant: Grant, tokens: Tokens) -> None:
        """Store what `grant` was exchanged for. Raises PreconditionFailed if it is not the last."""
        wrapped = await self._wrapped(uid, service, tokens)
        changes = {"tokens": wrapped, "expires_at": tokens.expires_at}
        await self._documents.write(Update(_path(uid, service), changes, version=grant.version))

    async def expire(self, uid: UserId, service: Service, grant: Grant) -> None:
        """Remember that only the owner can mend it. Raises PreconditionFailed as replace() does."""
        changes = {"health": "expired"}
        await self._documents.write(
            Update(_path(uid, service), changes, version=grant.version),
            Update(connection_path(uid, service), changes),
        )

    async def remove(self, uid: UserId, service: Service) -> None:
        await self._documents.delete_tree(_path(uid, service))
        await self._documents.write(Delete(connection_path(uid, service)))

    async def claim(self, uid: UserId, service: Service, holder: str, *, now: datetime) -> bool:
        """Take the right to refresh for a while, unless another holder has it."""
        return await self._claims.take(_path(uid, service), holder, now=now)

    async def release(self, uid: UserId, service: Service, holder: str) -> None:
        """Give the right back, unless it was taken over."""
        await self._claims.release(_path(uid, service), holder)

    async def _wrapped(self, uid: UserId, service: Service, tokens: Tokens) -> bytes:
        secret = adapter(Tokens).dump_json(tokens)
        return await self._keys.wrap(secret, bound_to=_bound_to(uid, service))


class Authorizations:
    """Users who were sent to a service and may come back, each once."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def add(self, uid: UserId, authorization: Authorization) -> None:
        path = f"users/{uid}/authorizations/{authorization.id}"
        await self._documents.write(Create(path, dump(authorization)))

    async def take(self, uid: UserId, name: str, *, now: datetime) -> Authorization | None:
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


def _path(uid: UserId, service: Service) -> str:
    return f"users/{uid}/integrations/{service}"


def _bound_to(uid: UserId, service: Service) -> str:
    return f"{uid}|{service}"
