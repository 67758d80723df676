"""The tokens of users' MCP servers, wrapped; only the tool proxy may import this."""

from dataclasses import replace
from datetime import datetime

from shared.data.codec import type_adapter
from shared.data.refresh_claims import RefreshClaims
from shared.domain.documents import Create, Delete, Set, Update
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import AppId, UserId
from shared.domain.mcp_grant import McpAuthorization, McpTokens
from shared.ports import Documents, Keys


class McpTokenStore:
    """Wrapped for one user, app and server address, so that no other server is sent a token."""

    def __init__(self, documents: Documents, keys: Keys) -> None:
        self._documents = documents
        self._keys = keys
        self._claims = RefreshClaims(documents)

    async def get(self, uid: UserId, app_id: AppId, server_url: str) -> McpTokens | None:
        """Raises CannotUnwrap."""
        document = await self._documents.get(_token_path(uid, app_id))
        if document is None:
            return None
        binding = _build_binding(uid, app_id, server_url)
        secret = await self._keys.unwrap(document.fields["sealed"], bound_to=binding)
        grant: McpTokens = type_adapter(McpTokens).validate_json(secret)
        return replace(grant, version=document.version)

    async def put(self, uid: UserId, app_id: AppId, server_url: str, grant: McpTokens) -> None:
        """Store a grant. One that was read before replaces only itself: else PreconditionFailed."""
        binding = _build_binding(uid, app_id, server_url)
        secret = type_adapter(McpTokens).dump_json(grant)
        fields = {"sealed": await self._keys.wrap(secret, bound_to=binding)}
        if grant.version:
            await self._documents.write(
                Update(_token_path(uid, app_id), fields, version=grant.version)
            )
        else:
            await self._documents.write(Set(_token_path(uid, app_id), fields))

    async def remove(self, uid: UserId, app_id: AppId, grant: McpTokens) -> None:
        """Forget a grant. Raises PreconditionFailed if it is not the last."""
        await self._documents.write(Delete(_token_path(uid, app_id), version=grant.version))

    async def delete(self, uid: UserId, app_id: AppId) -> None:
        await self._documents.delete_tree(_token_path(uid, app_id))

    async def claim(self, uid: UserId, app_id: AppId, holder: str, *, now: datetime) -> bool:
        """Take the right to refresh for a while, unless another holder has it."""
        return await self._claims.acquire(_token_path(uid, app_id), holder, now=now)

    async def release(self, uid: UserId, app_id: AppId, holder: str) -> None:
        """Give the right back, unless it was taken over."""
        await self._claims.release(_token_path(uid, app_id), holder)


class McpAuthorizations:
    """Users who were sent away to allow access and may come back, each once."""

    def __init__(self, documents: Documents, keys: Keys) -> None:
        self._documents = documents
        self._keys = keys

    async def add(self, uid: UserId, name: str, authorization: McpAuthorization) -> None:
        secret = type_adapter(McpAuthorization).dump_json(authorization)
        wrapped_secret = await self._keys.wrap(secret, bound_to=_authorization_path(uid, name))
        fields = {"sealed": wrapped_secret, "expires_at": authorization.expires_at}
        await self._documents.write(Create(_authorization_path(uid, name), fields))

    async def consume(self, uid: UserId, name: str, *, now: datetime) -> McpAuthorization | None:
        """Return it to one caller only; None for everybody else, and when it is too late."""
        document = await self._documents.get(_authorization_path(uid, name))
        if document is None:
            return None
        try:
            await self._documents.write(Delete(document.path, version=document.version))
        except PreconditionFailed:
            return None
        secret = await self._keys.unwrap(document.fields["sealed"], bound_to=document.path)
        authorization: McpAuthorization = type_adapter(McpAuthorization).validate_json(secret)
        return authorization if now < authorization.expires_at else None


def _token_path(uid: UserId, app_id: AppId) -> str:
    return f"users/{uid}/mcp_grants/{app_id}"


def _authorization_path(uid: UserId, name: str) -> str:
    return f"users/{uid}/mcp_authorizations/{name}"


def _build_binding(uid: UserId, app_id: AppId, server_url: str) -> str:
    return f"{uid}|{app_id}|{server_url}"
