"""What is written down behind a call: it neither holds up an answer that is there nor fails it."""

from collections.abc import Awaitable

import anyio

from shared import telemetry
from shared.domain.errors import KeepsakeError

PATIENCE_S = 2


async def noted(writing: Awaitable[None]) -> None:
    """Write for PATIENCE_S at most, also when who asked has left; what fails is logged alone."""
    try:
        with anyio.move_on_after(PATIENCE_S, shield=True):
            await writing
    except KeepsakeError as error:
        telemetry.warning("call_not_noted", error=type(error).__name__)
