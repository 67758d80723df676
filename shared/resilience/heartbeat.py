"""Heartbeat: a lease is extended for as long as the work behind it runs.

Also called: lease renewal, keep-alive.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from shared.domain.errors import Unavailable


@asynccontextmanager
async def keep_extending(
    extend: Callable[[], Awaitable[None]], *, every_s: float
) -> AsyncIterator[None]:
    """Call `extend` every `every_s` seconds until the block is left.

    A call that raises Unavailable is made again at the next beat: the lease lasts for several.
    """
    beating = asyncio.create_task(_extend_forever(extend, every_s))
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.wait([beating])


async def _extend_forever(extend: Callable[[], Awaitable[None]], every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        with suppress(Unavailable):
            await extend()
