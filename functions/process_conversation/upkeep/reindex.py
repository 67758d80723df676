"""Reindexing of what a user has, while everything goes on: rows are built anew from documents.

Also called: index rebuild, data migrations.
"""

from contextlib import suppress
from dataclasses import replace

from shared.data.conversations.conversations import Conversations, IncompleteTranscript
from shared.data.files.files import Files
from shared.data.memories.memories import Memories
from shared.data.search.file_index import FileIndex
from shared.data.search.library_index import LibraryIndex
from shared.domain.conversations.conversation import Conversation, content_hash
from shared.domain.errors import NotFound
from shared.domain.files.file import File
from shared.domain.ids import ConversationId, UserId
from shared.domain.memories.memory import Memory
from shared.library.files import load_pages
from shared.library.memory_index import sync_rows
from shared.ports import Blobs
from shared.retrieval.page_passages import split_into_passages


def has_rows(conversation: Conversation) -> bool:
    """Tell whether search finds it: also what was said where the models failed, or work again."""
    is_indexed = conversation.status == "completed" or conversation.chunk_count > 0
    return is_indexed and not conversation.discarded


async def reindex_conversation(
    uid: UserId, name: ConversationId, conversations: Conversations, index: LibraryIndex
) -> None:
    """Index again after an edit meanwhile; remove the rows of what was deleted or discarded meanwhile.

    One whose transcript is incomplete keeps its rows: it is processed once the missing part is there.
    """
    indexed: object = None
    chunks = 0
    while True:
        try:
            conversation = await conversations.get(uid, name)
        except IncompleteTranscript:
            return
        except NotFound:
            await index.remove(uid, name, chunks)
            return
        version = (
            content_hash(conversation),
            conversation.has_deleted_transcript,
            conversation.structured,
            conversation.topics,
            conversation.discarded,
        )
        if version == indexed:
            return
        indexed = version
        earlier_chunks = max(chunks, conversation.chunk_count)
        if conversation.discarded:
            await index.remove(uid, name, earlier_chunks)
        else:
            chunks = await index.put(uid, replace(conversation, chunk_count=earlier_chunks))


async def reindex_memory(
    uid: UserId, memory: Memory, memories: Memories, index: LibraryIndex
) -> None:
    await index.put_memories(uid, [memory])
    await sync_rows(memories, index, uid, [memory])


async def reindex_file(
    uid: UserId, file: File, files: Files, blobs: Blobs, index: FileIndex
) -> bool:
    """Index a file; False for one that was not read, or is deleted by now."""
    passages = split_into_passages(await load_pages(blobs, uid, file.id))
    with suppress(NotFound):  # it was deleted meanwhile
        row_count = max(len(passages), file.chunk_count)
        await files.change(uid, file.id, chunk_count=row_count)
        await index.put(uid, file, passages)
        await _remove_rows_of_deleted(uid, replace(file, chunk_count=row_count), files, index)
        return bool(passages)
    return False


async def _remove_rows_of_deleted(uid: UserId, file: File, files: Files, index: FileIndex) -> None:
    """Remove the rows of a file that was deleted while they were written."""
    try:
        await files.get(uid, file.id)
    except NotFound:
        await index.remove(uid, file)
