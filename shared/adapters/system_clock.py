"""Clock and NewId of this machine.

Also called: ID generator, time source.
"""

import asyncio
import secrets
from datetime import UTC, datetime


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class RandomIds:
    """128 random bits, URL-safe: 22 characters."""

    def __call__(self) -> str:
        return secrets.token_urlsafe(16)
