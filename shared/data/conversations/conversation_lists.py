"""Conversation lists: conversations by filter, newest first, from any offset, with their transcripts."""

from collections.abc import Collection, Sequence
from datetime import datetime

from anyio import to_thread

from shared.data.conversations.conversation_keys import ConversationKey, ConversationKeys
from shared.data.conversations.conversations import Conversations, conversation_path, load_shown
from shared.data.conversations.long_transcripts import MAX_SEGMENTS_ON_THE_LOOP
from shared.data.store.paging import format_cursor, parse_cursor
from shared.domain.conversations.conversation import Conversation
from shared.domain.ids import ConversationId, FolderId, UserId
from shared.domain.store.documents import Document
from shared.domain.value import value
from shared.ports import Documents

BATCH_SIZE = 50
"""Conversations that are read in one round."""
MAX_TEXT_BYTES = 8_388_608
"""The transcripts and photos of one page."""
LISTED_STATUSES = ("processing", "completed")


@value
class ConversationFilter:
    """The conversations of a list; None is any. `start` and `end` are included, over `created_at`."""

    statuses: Collection[str] = LISTED_STATUSES
    discarded: bool | None = False
    starred: bool | None = None
    folder_ids: Collection[FolderId] | None = None
    start: datetime | None = None
    end: datetime | None = None

    def select(self, keys: Sequence[ConversationKey]) -> list[ConversationKey]:
        return [key for key in keys if self._matches(key)]

    def _matches(self, key: ConversationKey) -> bool:
        return (
            key.status in self.statuses
            and (self.discarded is None or self.discarded == key.discarded)
            and (self.starred is None or self.starred == key.starred)
            and (self.folder_ids is None or key.folder_id in self.folder_ids)
            and (self.start is None or self.start <= key.created_at)
            and (self.end is None or key.created_at <= self.end)
        )


@value
class ConversationPage:
    """A page of a list; `next` is the cursor of what follows, None at the end.

    `total` conversations are in the whole list, from the cursor on where there was one.
    """

    items: Sequence[Conversation]
    next: str | None
    total: int


class ConversationLists:
    """A user's conversations in pages, each filled: what is deleted leaves no gap."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._keys = ConversationKeys(documents)

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
    ) -> ConversationPage:
        """Return up to `limit` conversations, newest first, whole or without transcript and photos.

        They begin after `offset` others, or after the cursor `after`. Beyond MAX_TEXT_BYTES they come
        without transcript and photos. Raises Invalid for a cursor that is not ours.
        """
        boundary = parse_cursor(after)
        keys = wanted.select(await self._keys.load(uid, now=now))
        if boundary is not None:
            keys = [key for key in keys if key[:2] < boundary]
        room = MAX_TEXT_BYTES if with_transcripts else 0
        reader = _PageReader(self._documents, uid, keys[offset:], max_text_bytes=room)
        conversations = await reader.read(limit)
        if reader.missing_ids:
            await self._keys.forget(uid, reader.missing_ids)
        return ConversationPage(items=conversations, next=reader.cursor, total=len(keys))


class _PageReader:
    """Reads the conversations of keys in batches; it remembers where it is."""

    def __init__(
        self,
        documents: Documents,
        uid: UserId,
        keys: Sequence[ConversationKey],
        *,
        max_text_bytes: int,
    ) -> None:
        self._documents = documents
        self._conversations = Conversations(documents)
        self._uid = uid
        self._keys = keys
        self._position = 0
        self._free_bytes = max_text_bytes
        self.missing_ids: list[ConversationId] = []

    @property
    def cursor(self) -> str | None:
        """The cursor of what follows, None at the end of the list."""
        if not 0 < self._position < len(self._keys):
            return None
        last = self._keys[self._position - 1]
        return format_cursor((last.created_at, last.id))

    async def read(self, limit: int) -> list[Conversation]:
        conversations: list[Conversation] = []
        while len(conversations) < limit and self._position < len(self._keys):
            conversations += await self._read_batch(min(limit - len(conversations), BATCH_SIZE))
        return conversations

    async def _read_batch(self, size: int) -> list[Conversation]:
        batch = self._keys[self._position : self._position + size]
        self._position += len(batch)
        paths = [conversation_path(self._uid, key.id) for key in batch]
        stored = await _load(await self._documents.get_many(paths))
        found_ids = {conversation.id for conversation in stored}
        self.missing_ids += [key.id for key in batch if key.id not in found_ids]
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


async def _load(documents: Sequence[Document | None]) -> list[Conversation]:
    """Load them, in a thread where their transcripts are long."""
    transcripts = [d.fields.get("transcript_segments") for d in documents if d]
    if (
        sum(len(segments) for segments in transcripts if isinstance(segments, list))
        > MAX_SEGMENTS_ON_THE_LOOP
    ):
        return await to_thread.run_sync(load_shown, documents)
    return load_shown(documents)
