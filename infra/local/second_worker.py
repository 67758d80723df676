"""Second worker: a process that delivers jobs beside the server while there are many.

An import of a year then uses two processors, and a laptop at rest runs one process. The child ends
when it has nothing to do, and when its standard input ends, which also tells that the server is gone.
"""

import asyncio
import os
import signal
import sys

import anyio

from infra.local.deliver_jobs import open_queue_worker
from infra.local.gateway import build_internal_app
from infra.local.routing import load_entry_points
from infra.local.terminal_log import TerminalFormatter
from shared import telemetry
from shared.adapters.embedded.sqlite_queue import SqliteQueue
from shared.domain.errors import Unavailable
from shared.settings import Settings

MANY_JOBS = 4
"""Unfinished jobs that keep one process busy."""
CHECK_S = 0.5
CHECKS = 3
"""How many checks in a row must find so many: a few conversations are not worth a process."""
IDLE_S = 5.0
"""How long the process waits for another job; starting it costs about two seconds."""
STOP_S = 5.0
"""How long it may take to give its jobs back."""


async def run_second_worker_when_busy(queue: SqliteQueue) -> None:
    """Start the process whenever many jobs wait, until cancelled."""
    if (os.cpu_count() or 1) == 1:
        return
    busy_checks = 0
    while True:
        await asyncio.sleep(CHECK_S)
        busy_checks = busy_checks + 1 if await _is_busy(queue) else 0
        if busy_checks == CHECKS:
            telemetry.info("second_worker_started")
            await _run_child()
            busy_checks = 0


async def _is_busy(queue: SqliteQueue) -> bool:
    try:
        return await queue.count_unfinished(MANY_JOBS) == MANY_JOBS
    except Unavailable:
        return False


async def _run_child() -> None:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "infra.local.second_worker"), stdin=asyncio.subprocess.PIPE
    )
    assert child.stdin
    try:
        await child.wait()
    finally:
        child.stdin.close()
        try:
            await asyncio.wait_for(child.wait(), STOP_S)
        except TimeoutError:
            child.kill()


def main() -> None:
    """Deliver jobs until there are none, or until standard input ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the server stops us, once it has answered
    telemetry.configure(formatter=TerminalFormatter() if sys.stdout.isatty() else None)
    anyio.run(_deliver, Settings.from_env())


async def _deliver(settings: Settings) -> None:
    internal_app = build_internal_app(load_entry_points())
    async with (
        open_queue_worker(settings, internal_app) as worker,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(_cancel_at_end_of_input, tasks.cancel_scope)
        await worker.run(idle_s=IDLE_S)
        tasks.cancel_scope.cancel()


async def _cancel_at_end_of_input(scope: anyio.CancelScope) -> None:
    await anyio.wait_readable(sys.stdin)
    scope.cancel()


if __name__ == "__main__":
    main()
