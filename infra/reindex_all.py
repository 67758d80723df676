"""Reindexing of all users, `make reindex-all`: starts it, or joins the one under way, and shows how far it is.

The functions do the work, in tasks; in the embedded world the running server. Whoever stops watching stops
nothing. Another call begins again what was given up, and leaves out who is done.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence

from functions.process_conversation.upkeep.reindex_schedule import schedule_page
from infra.progress import draw_progress_bar
from shared import model_wiring, wiring
from shared.adapters.embedded.sqlite_database import DatabaseUnusable
from shared.data.conversations.reindexings import Reindexings
from shared.data.search.library_index import LibraryIndex
from shared.domain.conversations.reindexing import Reindexing, ReindexProgress
from shared.domain.errors import Unavailable
from shared.ports import Tasks
from shared.settings import SettingsError

USERS_PER_SECOND = 5.0
POLL_S = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; on an error print one line and return 1."""
    parser = argparse.ArgumentParser(prog="make reindex-all", description=__doc__.splitlines()[0])
    parser.add_argument("--users-per-second", type=float, default=USERS_PER_SECOND)
    parser.add_argument(
        "--progress", action="store_true", help="start nothing, print how far it is"
    )
    options = parser.parse_args(arguments)
    if options.users_per_second <= 0:
        parser.error("--users-per-second is above 0")
    try:
        asyncio.run(_run(options.users_per_second, is_asked=options.progress))
    except (SettingsError, Unavailable) as error:
        print(f"keepsake: {error}; run it again, nothing is doubled", file=sys.stderr)
        return 1
    except DatabaseUnusable as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return 1
    except PermissionError as error:
        print(f"keepsake: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("keepsake: it goes on; `make reindex-all` shows how far it is")
    return 0


async def _run(users_per_second: float, *, is_asked: bool) -> None:
    reindexings = Reindexings(wiring.documents())
    scheme = LibraryIndex(wiring.vectors(), model_wiring.embedder()).scheme
    if is_asked:
        print(_format_progress(await reindexings.count_users(scheme)))
        return
    new = Reindexing(
        attempt=wiring.new_id()(),
        scheme=scheme,
        users_per_second=users_per_second,
        advanced_at=wiring.clock().now(),
    )
    await start(reindexings, wiring.tasks(), new)
    print(_format_progress(await watch(reindexings, scheme, wiring.clock().sleep)))


async def start(reindexings: Reindexings, tasks: Tasks, new: Reindexing) -> Reindexing:
    """Start a run unless one is under way, whose task is created if it never was."""
    started = await reindexings.start(new)
    if not started.is_listed:
        await schedule_page(tasks, started)
    return started


async def watch(
    reindexings: Reindexings, scheme: str, sleep: Callable[[float], Awaitable[None]]
) -> ReindexProgress:
    """Draw a bar until every user is done."""
    while not (progress := await reindexings.count_users(scheme)).is_done:
        draw_progress_bar("users", progress.done, max(progress.done + progress.pending, 1))
        await sleep(POLL_S)
    return progress


def _format_progress(progress: ReindexProgress) -> str:
    listing = "" if progress.is_listed else ", and users who are not listed yet"
    return (
        f"keepsake: users whose rows are up to date: {progress.done}; "
        f"still to do: {progress.pending}{listing}"
    )


if __name__ == "__main__":
    sys.exit(main())
