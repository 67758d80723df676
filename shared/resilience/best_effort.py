"""What is written down behind a call: it neither holds up an answer that is there nor fails it."""

from collections.abc import Awaitable

import anyio

from shared import telemetry
from shared.domain.errors import KeepsakeError

MAX_WAIT_S = 2


async def run_best_effort(work: Awaitable[None]) -> None:
    """Write for PATIENCE_S at most, also when who asked has left; what fails is logged alone."""
    try:
        with anyio.move_on_after(MAX_WAIT_S, shield=True):
            await work
    except KeepsakeError as error:
        telemetry.warning("call_not_noted", error=type(error).__name__)
