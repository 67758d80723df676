"""Conversation cache: decoded, hashed conversations by path and version; the oldest are evicted.

Also called: LRU cache, caching.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from shared.data.store.codec import load_all
from shared.domain.conversations.conversation import Conversation, content_hash, transcript_hash
from shared.domain.store.documents import Document
from shared.domain.value import value
from shared.ports import Documents

MAX_CACHED_CHARS = 10_000_000
SEGMENT_OVERHEAD_CHARS = 300
"""Memory that a segment takes beside its text."""


@value
class CachedConversation:
    """A conversation without its parts, decoded from one version of its document."""

    conversation: Conversation
    transcript_hash: str
    content_hash: str
    version: str

    @property
    def size_chars(self) -> int:
        return sum(
            SEGMENT_OVERHEAD_CHARS + len(segment.text)
            for segment in self.conversation.transcript_segments
        )


class ConversationCache:
    """Holds the latest, about 20 MB: consecutive questions find much the same conversations."""

    def __init__(self, max_chars: int = MAX_CACHED_CHARS) -> None:
        self._free_chars = max_chars
        self._entries: OrderedDict[str, CachedConversation] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    async def load_all(
        self, documents: Documents, paths: Sequence[str]
    ) -> list[CachedConversation]:
        """Read the conversations that exist and can be decoded, without the texts of those that are held."""
        held = {path: self._entries[path] for path in paths if path in self._entries}
        versions = {path: entry.version for path, entry in held.items()}
        return self._decode_all(await documents.get_many(paths, known=versions), held)

    def decode_all(self, documents: Sequence[Document | None]) -> list[CachedConversation]:
        """Return the conversations of documents that exist and can be decoded."""
        return self._decode_all(documents, self._entries)

    def _decode_all(
        self, documents: Iterable[Document | None], held: Mapping[str, CachedConversation]
    ) -> list[CachedConversation]:
        return [
            entry for document in documents if document for entry in self._decode(document, held)
        ]

    def _decode(
        self, document: Document, held: Mapping[str, CachedConversation]
    ) -> list[CachedConversation]:
        held_entry = held.get(document.path)
        if held_entry is not None and held_entry.version == document.version:
            if document.path in self._entries:  # others may have evicted it meanwhile
                self._entries.move_to_end(document.path)
            return [held_entry]
        self._evict(document.path)
        new_entries = [
            CachedConversation(
                conversation=conversation,
                transcript_hash=segments_hash,
                content_hash=content_hash(conversation, known_hash=segments_hash),
                version=document.version,
            )
            for conversation in load_all(Conversation, [document])
            for segments_hash in [transcript_hash(conversation)]
        ]
        for entry in new_entries:
            self._insert(document.path, entry)
        return new_entries

    def _insert(self, path: str, entry: CachedConversation) -> None:
        self._entries[path] = entry
        self._free_chars -= entry.size_chars
        while self._free_chars < 0:
            self._evict(next(iter(self._entries)))

    def _evict(self, path: str) -> None:
        entry = self._entries.pop(path, None)
        self._free_chars += entry.size_chars if entry else 0
