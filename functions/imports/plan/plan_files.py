"""Reading of imported files beside the event loop: large ones and archives in processes of their own."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import anyio
from anyio import to_thread

from functions.imports.plan.plan import Plan, SourceFile, plan_file, plan_refusal
from shared.domain.errors import QuotaExceeded
from shared.domain.ids import UserId
from shared.library.isolated_reading import ReadingDeps, read_isolated
from shared.resilience.isolation import LimitReached, Limits

SMALL_BYTES = 65_536
"""A file that any reader is through with in an instant; but no archive, and nothing that a library in C reads."""
ISOLATED_MARKS = (b"PK", b"%PDF-")


async def plan_files(
    deps: ReadingDeps,
    uid: UserId,
    sources: Sequence[SourceFile],
    *,
    zone: str,
    now: datetime,
    limits: Limits | None = None,
) -> list[Plan]:
    """Read files; one that takes too long or too much memory is refused, and what is more than a day's reading."""
    plans: list[Plan | None] = [None] * len(sources)
    small = {at for at, source in enumerate(sources) if _is_small(source)}

    async def read(at: int, source: SourceFile) -> None:
        plans[at] = await _plan_isolated(deps, uid, source, zone, now, limits or Limits())

    async with anyio.create_task_group() as tasks:
        for at, source in enumerate(sources):
            if at not in small:
                tasks.start_soon(read, at, source)
        read_all = partial(_plan_small, [sources[at] for at in sorted(small)], zone, now)
        for at, plan in zip(sorted(small), await to_thread.run_sync(read_all), strict=True):
            plans[at] = plan
    return [plan for plan in plans if plan is not None]


def _is_small(source: SourceFile) -> bool:
    return len(source.data) <= SMALL_BYTES and not source.data.startswith(ISOLATED_MARKS)


def _plan_small(sources: Sequence[SourceFile], zone: str, now: datetime) -> list[Plan]:
    return [plan_file(source, zone, now) for source in sources]


async def _plan_isolated(
    deps: ReadingDeps, uid: UserId, source: SourceFile, zone: str, now: datetime, limits: Limits
) -> Plan:
    try:
        return await read_isolated(deps, uid, partial(plan_file, source, zone, now), limits)
    except (LimitReached, QuotaExceeded) as limit:
        return plan_refusal(source.name, str(limit))
