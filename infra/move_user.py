"""Moving a user, `make move-user`: takes their rows to another bucket of the index while all goes on.

1. Everybody writes to both buckets and reads the old one. 2. The rows are built in the new one.
3. Everybody reads the new one. 4. Nobody writes to the old one. 5. Its rows are deleted.

Between the steps it waits until every process knows. A move that was interrupted goes on where it was.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from infra.arguments import parse_number_between
from infra.reindex import reindex_user
from shared import wiring
from shared.adapters.embedded.sqlite_database import DatabaseUnusable
from shared.data.account.vector_homes import VectorHomes
from shared.domain.errors import Conflict, KeepsakeError
from shared.domain.ids import UserId
from shared.domain.store.vector_home import BUCKETS, VectorHome
from shared.domain.value import value
from shared.ports import Clock
from shared.settings import SettingsError


@value
class MoveDeps:
    """`build_rows` writes all rows of a user, `delete_copies` deletes those where they do not live.

    `pause` is longer than a process may go by an old home.
    """

    homes: VectorHomes
    clock: Clock
    pause: timedelta
    build_rows: Callable[[UserId], Awaitable[object]]
    delete_copies: Callable[[str], Awaitable[None]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; on an error print one line and return 1."""
    parser = argparse.ArgumentParser(prog="make move-user", description=__doc__.splitlines()[0])
    parser.add_argument("uid", metavar="UID")
    parser.add_argument("bucket", type=parse_number_between(0, BUCKETS - 1), metavar="BUCKET")
    options = parser.parse_args(arguments)
    try:
        asyncio.run(move_user(_build_deps(), UserId(options.uid), options.bucket))
    except (DatabaseUnusable, SettingsError, Conflict) as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return 1
    except KeepsakeError as error:
        print(f"keepsake: {error}; run it again, nothing is lost", file=sys.stderr)
        return 1
    print(f"keepsake: the rows of {options.uid} are in bucket {options.bucket}")
    return 0


def _build_deps() -> MoveDeps:
    return MoveDeps(
        homes=wiring.vector_homes(),
        clock=wiring.clock(),
        pause=wiring.move_pause(),
        build_rows=reindex_user,
        delete_copies=wiring.sharded_vectors().delete_copies,
    )


async def move_user(deps: MoveDeps, uid: UserId, bucket: int) -> None:
    """Raises Conflict while the user is on the way to another bucket."""
    home = await deps.homes.get(uid)
    if bucket not in home.buckets and home.twin is not None:
        raise Conflict(f"The user is being moved to bucket {home.twin}: finish that first")
    if home.bucket != bucket:
        home = await _copy(deps, uid, home, bucket)
    if home.twin is not None:
        await _pause(deps)  # somebody may still read the old one
        await _replace(deps, uid, home, VectorHome(bucket=bucket))
    await _pause(deps)  # somebody may still write to the old one
    await deps.delete_copies(uid)


async def _copy(deps: MoveDeps, uid: UserId, home: VectorHome, bucket: int) -> VectorHome:
    """Build the rows in the new bucket once everybody writes there; let it be read then."""
    both = await _replace(deps, uid, home, VectorHome(bucket=home.bucket, twin=bucket))
    await _pause(deps)
    await deps.build_rows(uid)
    return await _replace(deps, uid, both, VectorHome(bucket=bucket, twin=home.bucket))


async def _replace(
    deps: MoveDeps, uid: UserId, expected: VectorHome, home: VectorHome
) -> VectorHome:
    await deps.homes.replace(uid, home, expected=expected)
    return home


async def _pause(deps: MoveDeps) -> None:
    await deps.clock.sleep(deps.pause.total_seconds())


if __name__ == "__main__":
    raise SystemExit(main())
