"""Token refresh: one caller refreshes an account's tokens, concurrent callers wait for it.

Also called: refresh token, single flight, request coalescing, thundering herd defence.
"""

from datetime import datetime, timedelta
from typing import Protocol, TypeVar

import anyio

from shared.domain.apps.connection import Tokens
from shared.domain.errors import Unavailable
from shared.ports import Clock

POLL_S = 0.25
MAX_POLLS = 60
MIN_TOKEN_LIFETIME = timedelta(seconds=60)
"""A token that expires sooner is refreshed before it is used."""


class VersionedTokens(Protocol):
    """Tokens as stored; the version changes whenever they are replaced."""

    @property
    def version(self) -> str: ...


G = TypeVar("G", bound=VersionedTokens)


class RefreshableAccount(Protocol[G]):
    """An account whose tokens one caller at a time may refresh."""

    async def load(self) -> G:
        """Load the current tokens. Raises NotFound, or what else says that there are none."""

    async def refresh(self, old: G) -> None:
        """Exchange `old`, and store the new tokens before anybody uses them."""

    async def claim(self, holder: str) -> bool: ...

    async def release(self, holder: str) -> None: ...


def is_expiring(tokens: Tokens, now: datetime) -> bool:
    return tokens.expires_at is not None and tokens.expires_at <= now + MIN_TOKEN_LIFETIME


async def refresh_once(account: RefreshableAccount[G], old: G, *, holder: str, clock: Clock) -> G:
    """Return the tokens that follow `old`: one caller refreshes them, the others wait.

    Raises the errors of `load` and `refresh`, and Unavailable.
    """
    for _ in range(MAX_POLLS):
        if await account.claim(holder):
            # The provider may revoke the old token: a cancelled caller still stores the new one.
            with anyio.CancelScope(shield=True):
                return await _refresh_claimed(account, old, holder)
        await clock.sleep(POLL_S)
        latest = await account.load()
        if latest.version != old.version:
            return latest
    raise Unavailable("Another call refreshes this account's tokens and does not finish")


async def _refresh_claimed(account: RefreshableAccount[G], old: G, holder: str) -> G:
    try:
        latest = await account.load()
        if latest.version == old.version:
            await account.refresh(old)
            latest = await account.load()
        return latest
    finally:
        await account.release(holder)
