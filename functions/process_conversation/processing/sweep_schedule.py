"""Schedule of sweeps: a task at the time at which something is due, beside the sweep of each minute."""

from datetime import datetime, timedelta

from shared.ports import Tasks

SWEEP_TARGET = "sweep"


async def schedule_sweep(tasks: Tasks, due_at: datetime) -> None:
    """Create the task of a second: all that is due in it, of all users, shares one."""
    at = due_at.replace(microsecond=0) + timedelta(seconds=1)
    await tasks.create(SWEEP_TARGET, f"sweep-{at:%Y%m%dT%H%M%S}", {}, at=at)
