"""The clock of the embedded world: the sweep of each minute, as Cloud Scheduler calls it."""

import asyncio
from datetime import datetime, timedelta

from shared import telemetry
from shared.domain.errors import Unavailable
from shared.ports import Clock, Tasks

PERIOD = timedelta(minutes=1)


async def sweep_every_minute(tasks: Tasks, clock: Clock) -> None:
    """Have what is stuck begun again, until cancelled."""
    while True:
        await schedule_minute(tasks, clock.now())
        await asyncio.sleep(PERIOD.total_seconds())


async def schedule_minute(tasks: Tasks, now: datetime) -> None:
    """Create the task of a minute: processes that share the data create one.

    While the queue takes none, the minute goes without; the next one has its own.
    """
    try:
        await tasks.create("sweep", f"minute-{now:%Y%m%dT%H%M}", {})
    except Unavailable as error:
        telemetry.warning("sweep_not_scheduled", reason=str(error))
