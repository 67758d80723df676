"""Schedule of sweeps: a task at the time at which something is due, beside the sweep of each minute.

Also called: delayed task, scheduled task.
"""

from datetime import datetime, timedelta

from shared.ports import Tasks

SWEEP_TARGET = "sweep"
WAKE_PERIOD_S = 10


async def schedule_sweep(tasks: Tasks, due_at: datetime) -> None:
    """Create the task of a second: all that is due in it, of all users, shares one."""
    at = due_at.replace(microsecond=0) + timedelta(seconds=1)
    await tasks.create(SWEEP_TARGET, f"sweep-{at:%Y%m%dT%H%M%S}", {}, at=at)


async def schedule_wake(tasks: Tasks, now: datetime) -> None:
    """Have those waked that wait for what answers again: once in ten seconds, however many tell it."""
    period = now.replace(microsecond=0, second=now.second // WAKE_PERIOD_S * WAKE_PERIOD_S)
    await tasks.create(SWEEP_TARGET, f"wake-{period:%Y%m%dT%H%M%S}", {"wakes": True})
