"""Reindexing, `make reindex`: builds a user's rows anew after an upgrade or for an embedder."""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar

from shared import wiring
from shared.data.conversations import Conversations
from shared.data.library_index import LibraryIndex
from shared.data.memories import Memories
from shared.data.paging import Page
from shared.domain.conversation import content_hash
from shared.domain.errors import NotFound, Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.settings import SettingsError

T = TypeVar("T")
PAGE_SIZE = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; on an error print one line and return 1."""
    parser = argparse.ArgumentParser(prog="make reindex", description=__doc__)
    parser.add_argument("uid")
    uid = UserId(parser.parse_args(arguments).uid)
    try:
        index = LibraryIndex(wiring.vectors(), wiring.embedder())
        documents = wiring.documents()
        count = asyncio.run(reindex(uid, Conversations(documents), Memories(documents), index))
    except (SettingsError, Unavailable) as error:
        print(f"keepsake: {error}; run it again, nothing is doubled", file=sys.stderr)
        return 1
    except PermissionError as error:
        print(f"keepsake: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"keepsake: made the rows of {count} conversations anew")
    return 0


async def reindex(
    uid: UserId, conversations: Conversations, memories: Memories, index: LibraryIndex
) -> int:
    """Index all stored conversations, while serving or not; returns their number."""
    count = 0
    async for conversation in _iterate_items(
        lambda after: conversations.list_page(uid, limit=PAGE_SIZE, after=after)
    ):
        if conversation.status == "completed" and not conversation.discarded:
            await _reindex_conversation(uid, conversation.id, conversations, index)
            count += 1
    async for memory in _iterate_items(
        lambda after: memories.list_page(uid, limit=PAGE_SIZE, after=after)
    ):
        await index.put_memories(uid, [memory])
    return count


async def _reindex_conversation(
    uid: UserId, name: ConversationId, conversations: Conversations, index: LibraryIndex
) -> None:
    """Index again after an edit meanwhile; remove the rows of a deleted conversation."""
    indexed, chunks = None, 0
    while True:
        try:
            conversation = await conversations.get(uid, name)
        except NotFound:
            await index.remove(uid, name, chunks)
            return
        if content_hash(conversation) == indexed:
            return
        indexed = content_hash(conversation)
        chunks = await index.put(uid, conversation)


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
