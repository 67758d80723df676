"""Tokens are renewed once, however many calls want them at the same time."""

from typing import Protocol, TypeVar

import anyio

from shared.domain.errors import Unavailable
from shared.ports import Clock

POLL_S = 0.25
MAX_POLLS = 60


class VersionedTokens(Protocol):
    """Tokens as stored; the version changes whenever they are replaced."""

    @property
    def version(self) -> str: ...


G = TypeVar("G", bound=VersionedTokens)


class RefreshableAccount(Protocol[G]):
    """What holds tokens, and who may renew them."""

    async def load(self) -> G:
        """Read the tokens as they stand; raises where there are none."""

    async def refresh(self, old: G) -> None:
        """Exchange `old` and store what comes back before anybody uses it."""

    async def claim(self, holder: str) -> bool: ...

    async def release(self, holder: str) -> None: ...


async def refresh_once(account: RefreshableAccount[G], old: G, *, holder: str, clock: Clock) -> G:
    """Return what follows `old`: one caller renews it, the others wait for that.

    Raises what `held` and `renew` raise, and Unavailable.
    """
    for _ in range(MAX_POLLS):
        if await account.claim(holder):
            # The provider may end the old token: who is stopped here still stores the new one.
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
