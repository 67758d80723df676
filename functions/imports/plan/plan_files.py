"""Reading of imported files: plain texts beside the event loop, all others and many in processes of their own."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
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
"""Of plain texts, those of a request together, which are read in an instant whatever stands in them."""
_BY_LIBRARIES = ("<", "{\\rtf", "PK", "%PDF-")
"""How files begin that a library reads: it may take minutes for a page of text."""
ARCHIVE_MARK = b"PK"
FILE_LIMITS = Limits(cpu_s=10.0)
SECONDS_PER_BYTE = 1 / 1_048_576
ARCHIVE_LIMITS = Limits(cpu_s=60.0)


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
    plain = [at for at, source in enumerate(sources) if _is_plain(source.data)]

    async def read(at: int, source: SourceFile) -> None:
        bounds = limits or find_limits(source.data)
        plans[at] = await _plan_isolated(deps, uid, source, zone, now, bounds)

    read_plain = partial(_plan_all, [sources[at] for at in plain], zone, now)
    if read_together := await _plan_together(
        deps, uid, read_plain, sum(len(sources[at].data) for at in plain)
    ):
        for at, plan in zip(plain, read_together, strict=True):
            plans[at] = plan
    async with anyio.create_task_group() as tasks:
        for at, source in enumerate(sources):
            if plans[at] is None:
                tasks.start_soon(read, at, source)
    return [plan for plan in plans if plan is not None]


def _is_plain(data: bytes) -> bool:
    if len(data) > SMALL_BYTES:
        return False
    try:
        return not data.decode("utf-8-sig").lstrip().startswith(_BY_LIBRARIES)
    except UnicodeDecodeError:
        return False


def find_limits(data: bytes) -> Limits:
    """Return what reading a file may take: as in a chat, longer for a larger one, and for an archive, which holds many."""
    if data.startswith(ARCHIVE_MARK):
        return ARCHIVE_LIMITS
    seconds = FILE_LIMITS.cpu_s + len(data) * SECONDS_PER_BYTE
    return replace(FILE_LIMITS, cpu_s=min(seconds, ARCHIVE_LIMITS.cpu_s))


async def _plan_together(
    deps: ReadingDeps, uid: UserId, read_all: Callable[[], list[Plan]], size: int
) -> list[Plan] | None:
    """Read plain texts at once; None where one of them takes too long, which each then does for itself."""
    if size <= SMALL_BYTES:
        return await to_thread.run_sync(read_all)
    with suppress(LimitReached, QuotaExceeded):
        return await read_isolated(deps, uid, read_all, FILE_LIMITS)
    return None


def _plan_all(sources: Sequence[SourceFile], zone: str, now: datetime) -> list[Plan]:
    return [plan_file(source, zone, now) for source in sources]


async def _plan_isolated(
    deps: ReadingDeps, uid: UserId, source: SourceFile, zone: str, now: datetime, limits: Limits
) -> Plan:
    try:
        return await read_isolated(deps, uid, partial(plan_file, source, zone, now), limits)
    except (LimitReached, QuotaExceeded) as limit:
        return plan_refusal(source.name, str(limit))
