"""Reindexing, `make reindex`: builds a user's rows anew after an upgrade or for an embedder."""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar

from functions.process_conversation.upkeep.reindex import (
    has_rows,
    reindex_conversation,
    reindex_file,
    reindex_memory,
)
from shared import model_wiring, wiring
from shared.adapters.embedded.sqlite_database import DatabaseUnusable
from shared.data.account.quotas import Quotas
from shared.data.files.files import Files
from shared.data.search.file_index import FileIndex
from shared.data.search.library_index import LibraryIndex
from shared.data.store.paging import Page
from shared.data.stores import Stores
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.ports import Blobs
from shared.settings import SettingsError

T = TypeVar("T")
PAGE_SIZE = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; on an error print one line and return 1."""
    parser = argparse.ArgumentParser(prog="make reindex", description=__doc__)
    parser.add_argument("uid")
    uid = UserId(parser.parse_args(arguments).uid)
    try:
        count, file_count = asyncio.run(reindex_user(uid))
    except (SettingsError, Unavailable) as error:
        print(f"keepsake: {error}; run it again, nothing is doubled", file=sys.stderr)
        return 1
    except DatabaseUnusable as error:
        print(f"keepsake: {error}", file=sys.stderr)
        return 1
    except PermissionError as error:
        print(f"keepsake: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"keepsake: made rows anew: conversations {count}, files {file_count}")
    return 0


async def reindex_user(uid: UserId) -> tuple[int, int]:
    """Build all rows of a user; return the numbers of conversations and of files."""
    vectors, embedder, stores = wiring.vectors(), model_wiring.embedder(), wiring.stores()
    quotas = Quotas(wiring.documents(), {})
    count = await reindex(uid, stores, LibraryIndex(vectors, embedder), quotas)
    index = FileIndex(vectors, embedder)
    return count, await reindex_files(uid, stores.files, wiring.blobs(), index)


async def reindex_files(uid: UserId, files: Files, blobs: Blobs, index: FileIndex) -> int:
    """Index all files that were read, while serving or not. Returns their number."""
    count = 0
    async for file in _iterate_items(
        lambda after: files.list_page(uid, limit=PAGE_SIZE, after=after)
    ):
        count += await reindex_file(uid, file, files, blobs, index)
    return count


async def reindex(uid: UserId, stores: Stores, index: LibraryIndex, quotas: Quotas) -> int:
    """Index all stored conversations, while serving or not, and count their bytes anew.

    Returns their number.
    """
    count, stored_bytes = 0, 0
    async for conversation in _iterate_items(
        lambda after: stores.conversations.list_page(uid, limit=PAGE_SIZE, after=after)
    ):
        stored_bytes += conversation.text_bytes + conversation.photo_bytes
        if has_rows(conversation):
            await stores.people.make_findable(uid, conversation.person_ids)
            await reindex_conversation(uid, conversation.id, stores.conversations, index)
            count += 1
    async for memory in _iterate_items(
        lambda after: stores.memories.list_page(uid, limit=PAGE_SIZE, after=after)
    ):
        await reindex_memory(uid, memory, stores.memories, index)
    for store in (
        stores.uploads,
        stores.recordings,
        stores.files,
        stores.speech_profiles,
        stores.bin_entries,
    ):
        stored_bytes += await store.count_bytes(uid)
    await quotas.set_stored_bytes(uid, stored_bytes)
    return count


async def _iterate_items(read: Callable[[str | None], Awaitable[Page[T]]]) -> AsyncIterator[T]:
    after = None
    while True:
        page = await read(after)
        for item in page.items:
            yield item
        if page.next is None:
            return
        after = page.next


if __name__ == "__main__":
    raise SystemExit(main())
