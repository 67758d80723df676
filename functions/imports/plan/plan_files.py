"""Reading of imported files: plain texts beside the event loop, all others and many in processes of their own."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial

from anyio import to_thread

from functions.imports.formats.documents import ARCHIVE_MARK
from functions.imports.formats.read_file import is_read_by_library
from functions.imports.plan.plan import Plan, SourceFile, plan_file, plan_refusal
from shared.domain.errors import QuotaExceeded
from shared.domain.ids import UserId
from shared.library.isolated_reading import ReadingDeps, read_isolated
from shared.resilience.isolation import LimitReached, Limits

SMALL_BYTES = 65_536
"""Of plain texts, those of a request together, which are read in an instant whatever stands in them."""
FILE_LIMITS = Limits(cpu_s=10.0)
SECONDS_PER_BYTE = 1 / 1_048_576
ARCHIVE_LIMITS = Limits(cpu_s=60.0)


async def plan_files(
    deps: ReadingDeps,
    uid: UserId,
    sources: Sequence[SourceFile],
    *,
    zone: str,
    limits: Limits | None = None,
    postponed_count: int | None = None,
) -> list[Plan]:
    """Read files; one that takes too long or too much memory is refused, and what is more than a day's reading.

    Raises LongTurnTaken, as read_isolated() does.
    """
    now = deps.clock.now()
    plain = await to_thread.run_sync(_list_plain, sources)
    read_plain = partial(_plan_all, [sources[at] for at in plain], zone, now)
    size = sum(len(sources[at].data) for at in plain)
    plans = dict(zip(plain, await _plan_together(deps, uid, read_plain, size), strict=False))
    for at, source in enumerate(sources):
        if at not in plans:
            read = partial(plan_file, source, zone, now)
            bounds = limits or find_limits(source.data)
            try:
                plans[at] = await read_isolated(
                    deps, uid, read, bounds, postponed_count=postponed_count
                )
            except (LimitReached, QuotaExceeded) as limit:
                plans[at] = plan_refusal(source.name, str(limit))
    return [plan for _, plan in sorted(plans.items())]


def _list_plain(sources: Sequence[SourceFile]) -> list[int]:
    """Return the places of small texts that no library reads."""
    return [
        at
        for at, source in enumerate(sources)
        if len(source.data) <= SMALL_BYTES and not is_read_by_library(source.name, source.data)
    ]


def find_limits(data: bytes) -> Limits:
    """Return what reading a file may take: as in a chat, longer for a larger one, and for an archive, which holds many."""
    if data.startswith(ARCHIVE_MARK):
        return ARCHIVE_LIMITS
    seconds = FILE_LIMITS.cpu_s + len(data) * SECONDS_PER_BYTE
    return replace(FILE_LIMITS, cpu_s=min(seconds, ARCHIVE_LIMITS.cpu_s))


async def _plan_together(
    deps: ReadingDeps, uid: UserId, read_all: Callable[[], list[Plan]], size: int
) -> list[Plan]:
    """Read plain texts at once; none where one of them takes too long, which each then does for itself."""
    if size <= SMALL_BYTES:
        return await to_thread.run_sync(read_all)
    with suppress(LimitReached, QuotaExceeded):
        return await read_isolated(deps, uid, read_all, FILE_LIMITS)
    return []


def _plan_all(sources: Sequence[SourceFile], zone: str, now: datetime) -> list[Plan]:
    return [plan_file(source, zone, now) for source in sources]
