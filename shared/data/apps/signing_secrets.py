"""Signing secrets of apps and users: stored wrapped, and unwrapped once on each instance."""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from shared.domain.apps.app import App
from shared.domain.ids import AppId, UserId
from shared.ports import Keys

MAX_CACHED = 1_000
_PREFIX = "wrapped:"
"""A stored secret without it is of before, and signs as it is until it is rotated."""


class SigningSecrets:
    """Wraps secrets for one owner each, so that another one's document cannot use them."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._cache: dict[tuple[str, str], str] = {}

    async def wrap(self, app_id: AppId, secret: str) -> str:
        """Return an app's secret as it is stored. Raises Unavailable."""
        return await self._wrap(_build_binding(app_id), secret)

    async def unwrap(self, app_id: AppId, stored: str) -> str:
        """Return an app's secret as it signs. Raises CannotUnwrap and Unavailable."""
        return await self._unwrap(_build_binding(app_id), stored)

    async def wrap_for_user(self, uid: UserId, secret: str) -> str:
        """Return the secret of a user's own webhooks as it is stored. Raises Unavailable."""
        return await self._wrap(_build_user_binding(uid), secret)

    async def unwrap_for_user(self, uid: UserId, stored: str) -> str:
        """Return the secret of a user's own webhooks as it signs. Raises as unwrap."""
        return await self._unwrap(_build_user_binding(uid), stored)

    async def _wrap(self, binding: str, secret: str) -> str:
        wrapped = await self._keys.wrap(secret.encode(), bound_to=binding)
        return _PREFIX + b64encode(wrapped).decode()

    async def _unwrap(self, binding: str, stored: str) -> str:
        if not stored.startswith(_PREFIX):
            return stored
        key = binding, stored
        if key not in self._cache:
            wrapped = b64decode(stored.removeprefix(_PREFIX))
            secret = await self._keys.unwrap(wrapped, bound_to=binding)
            if len(self._cache) >= MAX_CACHED:
                del self._cache[next(iter(self._cache))]
            self._cache[key] = secret.decode()
        return self._cache[key]

    async def load(self, app: App, now: datetime) -> Sequence[str]:
        """Return the secrets that sign a call to an app, the current one first. Raises as unwrap."""
        return [await self.unwrap(app.id, stored) for stored in app.get_signing_secrets(now)]

    async def reveal(self, app: App) -> App:
        """Return the app with its secret for its developer's eyes; never store it. Raises as unwrap."""
        return replace(app, signing_secret=await self.unwrap(app.id, app.signing_secret))


def _build_binding(app_id: AppId) -> str:
    return f"apps/{app_id}/signing_secret"


def _build_user_binding(uid: UserId) -> str:
    return f"users/{uid}/webhook_signing_secret"
