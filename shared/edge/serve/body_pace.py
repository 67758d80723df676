"""Pace of request bodies: whoever sends one byte a second holds no place of others.

A body may take a time that grows with what has come of it; every reader of bodies reads through here.

Also called: slow HTTP attack, Slowloris, minimum data rate.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect, Request

from shared.edge.declare.problems import RequestRejected, build_problem

if TYPE_CHECKING:
    from shared.ports import Clock

GRACE_S = 30.0
MIN_BYTES_PER_S = 500
"""What Apache's mod_reqtimeout asks of a body: a phone at the edge of its network sends more."""
TOO_SLOW = "The request body comes too slowly. Try again over a better connection."


async def receive_in_time(
    request: Request, clock: "Clock", *, grace_s: float = GRACE_S
) -> AsyncGenerator[bytes, None]:
    """Yield the body as it comes. Raises RequestRejected where it comes too slowly, or ends early."""
    began_at, size_bytes = clock.now(), 0
    async with aclosing(request.stream()) as chunks:
        while True:
            elapsed_s = (clock.now() - began_at).total_seconds()
            try:
                async with asyncio.timeout(grace_s + size_bytes / MIN_BYTES_PER_S - elapsed_s):
                    chunk = await anext(chunks, None)
            except TimeoutError:
                problem = build_problem(408, TOO_SLOW, headers={"Connection": "close"})
                raise RequestRejected(problem) from None
            except ClientDisconnect as disconnect:
                problem = build_problem(400, "The request body ended early.")
                raise RequestRejected(problem) from disconnect
            if chunk is None:
                return
            size_bytes += len(chunk)
            yield chunk
