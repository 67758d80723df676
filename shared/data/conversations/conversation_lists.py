"""Conversation lists: conversations by filter, newest first, from any offset, with their transcripts."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime

from anyio import to_thread

from shared.data.conversations.conversation_key import (
    ConversationFilter,
    ConversationKey,
    Position,
)
from shared.data.conversations.conversation_keys import ConversationKeys, KeyList
from shared.data.conversations.conversations import Conversations, conversation_path, load_shown
from shared.data.conversations.long_transcripts import MAX_SEGMENTS_ON_THE_LOOP
from shared.data.store.paging import format_cursor, parse_cursor
from shared.domain.conversations.conversation import Conversation
from shared.domain.ids import UserId
from shared.domain.store.documents import Document
from shared.domain.value import value
from shared.ports import Documents

BATCH_SIZE = 50
"""Conversations that are read in one round."""
MAX_TEXT_BYTES = 8_388_608
"""The transcripts and photos of one page."""


@value
class ConversationPage:
    """A page of a list; `next` is the cursor of what follows, None at the end.

    `total` conversations are in the whole list, from the cursor on where there was one, if that was asked for.
    """

    items: Sequence[Conversation]
    next: str | None
    total: int | None = None


class ConversationLists:
    """A user's conversations in pages, each filled: what is deleted leaves no gap."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._keys = ConversationKeys(documents)

    async def count(self, uid: UserId, wanted: ConversationFilter, *, now: datetime) -> int:
        return await self._keys.read(uid, lambda keys: keys.count(wanted), now=now)

    async def list_page(
        self,
        uid: UserId,
        wanted: ConversationFilter,
        *,
        limit: int,
        now: datetime,
        offset: int = 0,
        after: str | None = None,
        with_transcripts: bool = True,
        with_total: bool = False,
    ) -> ConversationPage:
        """Return up to `limit` conversations, newest first, whole or without transcript and photos.

        They begin after `offset` others, or after the cursor `after`. Beyond MAX_TEXT_BYTES they come
        without transcript and photos. Raises Invalid for a cursor that is not ours.
        """
        before = parse_cursor(after)
        wanted = replace(wanted, before=before) if before else wanted
        room = MAX_TEXT_BYTES if with_transcripts else 0

        async def read(keys: KeyList) -> ConversationPage:
            reader = _PageReader(self._documents, uid, max_text_bytes=room)
            async with aclosing(keys.iterate(wanted, offset=offset)) as wanted_keys:
                conversations = await reader.read(wanted_keys, limit)
            await keys.apply(dict.fromkeys(reader.missing))
            total = await keys.count(wanted) if with_total else None
            return ConversationPage(items=conversations, next=reader.cursor, total=total)

        return await self._keys.read(uid, read, now=now)


class _PageReader:
    """Reads the conversations of keys in batches."""

    def __init__(self, documents: Documents, uid: UserId, *, max_text_bytes: int) -> None:
        self._documents = documents
        self._conversations = Conversations(documents)
        self._uid = uid
        self._free_bytes = max_text_bytes
        self.missing: list[Position] = []
        self.cursor: str | None = None
        """Of what follows, None at the end of the list."""

    async def read(self, keys: AsyncIterator[ConversationKey], limit: int) -> list[Conversation]:
        conversations: list[Conversation] = []
        following = await anext(keys, None)
        while following and len(conversations) < limit:
            batch, following = await _take(
                keys, following, min(limit - len(conversations), BATCH_SIZE)
            )
            conversations += await self._read_batch(batch)
            self.cursor = format_cursor(batch[-1].position) if following else None
        return conversations

    async def _read_batch(self, batch: Sequence[ConversationKey]) -> list[Conversation]:
        paths = [conversation_path(self._uid, key.id) for key in batch]
        loaded = await _load(await self._documents.get_many(paths))
        by_position = {(stored.created_at, stored.id): stored for stored in loaded}
        self.missing += [key.position for key in batch if key.position not in by_position]
        stored = [by_position[key.position] for key in batch if key.position in by_position]
        bounded = [self._bound(conversation) for conversation in stored]
        return await self._complete(bounded)

    def _bound(self, conversation: Conversation) -> Conversation:
        """Return it without its texts where the answer has no room left for them."""
        self._free_bytes -= conversation.count_bytes()
        if self._free_bytes >= 0:
            return conversation
        return conversation.without_texts()

    async def _complete(self, stored: Sequence[Conversation]) -> list[Conversation]:
        """Load parts and photos; a transcript of which a part is missing is left out."""
        with_photos = await self._conversations.load_photos(self._uid, stored)
        whole = await self._conversations.load_transcripts(self._uid, with_photos)
        return [loaded or known for loaded, known in zip(whole, with_photos, strict=True)]


async def _take(
    keys: AsyncIterator[ConversationKey], first: ConversationKey, count: int
) -> tuple[list[ConversationKey], ConversationKey | None]:
    """Return `first` and what follows, `count` in all, and the next one, None at the end."""
    taken = [first]
    async for key in keys:
        if len(taken) == count:
            return taken, key
        taken.append(key)
    return taken, None


async def _load(documents: Sequence[Document | None]) -> list[Conversation]:
    """Load them, in a thread where their transcripts are long."""
    transcripts = [d.fields.get("transcript_segments") for d in documents if d]
    if (
        sum(len(segments) for segments in transcripts if isinstance(segments, list))
        > MAX_SEGMENTS_ON_THE_LOOP
    ):
        return await to_thread.run_sync(load_shown, documents)
    return load_shown(documents)
