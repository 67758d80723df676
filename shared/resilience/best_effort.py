"""Best-effort writes after a call: they neither delay its result for long nor fail it."""

from collections.abc import Awaitable

import anyio

from shared import telemetry
from shared.domain.errors import KeepsakeError

MAX_WAIT_S = 2


async def run_best_effort(work: Awaitable[None]) -> None:
    """Run `work` for MAX_WAIT_S at most, even if the caller is cancelled; an error is only logged."""
    try:
        with anyio.move_on_after(MAX_WAIT_S, shield=True):
            await work
    except KeepsakeError as error:
        telemetry.warning("call_not_noted", error=type(error).__name__)
