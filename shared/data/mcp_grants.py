"""The tokens of users' MCP servers, wrapped; only the tool proxy may import this."""

from dataclasses import replace
from datetime import datetime

from shared.data.codec import adapter
from shared.data.refresh_claims import RefreshClaims
from shared.domain.documents import Create, Delete, Set, Update
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import AppId, UserId
from shared.domain.mcp_grant import McpAuthorization, McpGrant
from shared.ports import Documents, Keys


class McpGrants:
    """Wrapped for one user, app and server address, so that no other server is sent a token."""

    def __init__(self, documents: Documents, keys: Keys) -> None:
        self._documents = documents
        self._keys = keys
        self._claims = RefreshClaims(documents)

    async def get(self, uid: UserId, app_id: AppId, server_url: str) -> McpGrant | None:
        """Raises CannotUnwrap."""
        document = await self._documents.get(_path(uid, app_id))
        if document is None:
            return None
        bound_to = _bound_to(uid, app_id, server_url)
        secret = await self._keys.unwrap(document.fields["sealed"], bound_to=bound_to)
        grant: McpGrant = adapter(McpGrant).validate_json(secret)
        return replace(grant, version=document.version)

    async def put(self, uid: UserId, app_id: AppId, server_url: str, grant: McpGrant) -> None:
        """Store a grant. One that was read before replaces only itself: else PreconditionFailed."""
        bound_to = _bound_to(uid, app_id, server_url)
        secret = adapter(McpGrant).dump_json(grant)
        sealed = {"sealed": await self._keys.wrap(secret, bound_to=bound_to)}
        if grant.version:
            await self._documents.write(Update(_path(uid, app_id), sealed, version=grant.version))
        else:
            await self._documents.write(Set(_path(uid, app_id), sealed))

    async def remove(self, uid: UserId, app_id: AppId, grant: McpGrant) -> None:
        """Forget a grant. Raises PreconditionFailed if it is not the last."""
        await self._documents.write(Delete(_path(uid, app_id), version=grant.version))

    async def forget(self, uid: UserId, app_id: AppId) -> None:
        await self._documents.delete_tree(_path(uid, app_id))

    async def claim(self, uid: UserId, app_id: AppId, holder: str, *, now: datetime) -> bool:
        """Take the right to refresh for a while, unless another holder has it."""
        return await self._claims.take(_path(uid, app_id), holder, now=now)

    async def release(self, uid: UserId, app_id: AppId, holder: str) -> None:
        """Give the right back, unless it was taken over."""
        await self._claims.release(_path(uid, app_id), holder)


class McpAuthorizations:
    """Users who were sent away to allow access and may come back, each once."""

    def __init__(self, documents: Documents, keys: Keys) -> None:
        self._documents = documents
        self._keys = keys

    async def add(self, uid: UserId, name: str, authorization: McpAuthorization) -> None:
        secret = adapter(McpAuthorization).dump_json(authorization)
        sealed = await self._keys.wrap(secret, bound_to=_pending(uid, name))
        fields = {"sealed": sealed, "expires_at": authorization.expires_at}
        await self._documents.write(Create(_pending(uid, name), fields))

    async def take(self, uid: UserId, name: str, *, now: datetime) -> McpAuthorization | None:
        """Return it to one caller only; None for everybody else, and when it is too late."""
        document = await self._documents.get(_pending(uid, name))
        if document is None:
            return None
        try:
            await self._documents.write(Delete(document.path, version=document.version))
        except PreconditionFailed:
            return None
        secret = await self._keys.unwrap(document.fields["sealed"], bound_to=document.path)
        authorization: McpAuthorization = adapter(McpAuthorization).validate_json(secret)
        return authorization if now < authorization.expires_at else None


def _path(uid: UserId, app_id: AppId) -> str:
    return f"users/{uid}/mcp_grants/{app_id}"


def _pending(uid: UserId, name: str) -> str:
    return f"users/{uid}/mcp_authorizations/{name}"


def _bound_to(uid: UserId, app_id: AppId, server_url: str) -> str:
    return f"{uid}|{app_id}|{server_url}"
