"""Signing secrets of apps: stored wrapped, and unwrapped once on each instance."""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from shared.domain.app import App
from shared.domain.ids import AppId
from shared.ports import Keys

MAX_CACHED = 1_000
_PREFIX = "wrapped:"
"""A stored secret without it is of before, and signs as it is until it is rotated."""


class SigningSecrets:
    """Wraps secrets for one app each, so that another app's document cannot use them."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._cache: dict[tuple[AppId, str], str] = {}

    async def wrap(self, app_id: AppId, secret: str) -> str:
        """Return a secret as it is stored. Raises Unavailable."""
        wrapped = await self._keys.wrap(secret.encode(), bound_to=_build_binding(app_id))
        return _PREFIX + b64encode(wrapped).decode()

    async def unwrap(self, app_id: AppId, stored: str) -> str:
        """Return a secret as it signs. Raises CannotUnwrap and Unavailable."""
        if not stored.startswith(_PREFIX):
            return stored
        key = app_id, stored
        if key not in self._cache:
            wrapped = b64decode(stored.removeprefix(_PREFIX))
            secret = await self._keys.unwrap(wrapped, bound_to=_build_binding(app_id))
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
