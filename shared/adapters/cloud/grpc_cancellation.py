"""Cancellation of calls of gRPC: it ends as whoever cancelled them expects."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio.lowlevel import checkpoint_if_cancelled

from shared.domain.errors import Unavailable


@asynccontextmanager
async def keep_cancellation() -> AsyncIterator[None]:
    """Raise what cancelled the call. Raises Unavailable for a call that nobody cancelled.

    gRPC raises a CancelledError of its own in the place of the one it got. A deadline of anyio does not
    know it and lets it pass, so that it would end whatever the deadline was to protect.
    """
    try:
        yield
    except asyncio.CancelledError as error:
        await checkpoint_if_cancelled()
        task = asyncio.current_task()
        if task is None or not task.cancelling():
            raise Unavailable("The connection ended the call") from error
        raise
