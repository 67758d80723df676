"""Erasing again, `make erase-again`: takes out of a restored database who was erased since its backup.

A backup holds people who left after it. They are erased in the restored database before it replaces the one
in use, whose erasures tell who they are.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from datetime import datetime

from google.cloud.firestore import AsyncClient

from infra.arguments import parse_moment
from shared import wiring
from shared.adapters.cloud.firestore_documents import FirestoreDocuments
from shared.adapters.store_clock import StoreClock
from shared.data.account.accounts import Accounts
from shared.data.account.erasures import Erasures
from shared.data.chats.crisis_log import CrisisLog
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.ports import Documents
from shared.settings import SettingsError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; on an error print one line and return 1."""
    parser = argparse.ArgumentParser(prog="make erase-again", description=__doc__)
    parser.add_argument("database", help="the restored database, such as `restored`")
    parser.add_argument("snapshot", type=parse_moment, help="when the backup was made")
    options = parser.parse_args(arguments)
    os.environ["KEEPSAKE_WORLD"] = "cloud"  # noqa: TID251  the command concerns the cloud alone
    try:
        erased = asyncio.run(_erase_in(options.database, options.snapshot))
    except (SettingsError, Unavailable) as error:
        print(f"keepsake: {error}; run it again, nothing is doubled", file=sys.stderr)
        return 1
    print(f"keepsake: erased {len(erased)} people again in {options.database}")
    return 0


async def _erase_in(database: str, snapshot: datetime) -> list[UserId]:
    project = wiring.settings().project
    with closing(AsyncClient(project=project, database=database)) as client:
        restored = FirestoreDocuments(client, StoreClock(wiring.machine_clock()))
        crisis_log = CrisisLog(restored, wiring.pseudonyms())
        users = list_users(client)
        return await erase_again(restored, users, wiring.erasures(), crisis_log, snapshot)


async def list_users(client: AsyncClient) -> AsyncIterator[UserId]:
    """List all users of a database, also those without a profile."""
    async for reference in client.collection("users").list_documents():
        yield UserId(reference.id)


async def erase_again(
    restored: Documents,
    users: AsyncIterator[UserId],
    erasures: Erasures,
    crisis_log: CrisisLog,
    snapshot: datetime,
) -> list[UserId]:
    """Delete the documents of whoever was erased after the snapshot; return who that was.

    The crisis log first: whose documents are gone, the next run does not find.
    Who was erased before it, and began anew, stays.
    """
    erased = []
    async for uid in users:
        erasure = await erasures.get(uid)
        if erasure and (erasure.done_at is None or erasure.done_at > snapshot):
            await crisis_log.forget_user(uid)
            await Accounts(restored).delete(uid)
            erased.append(uid)
    return erased


if __name__ == "__main__":
    sys.exit(main())
