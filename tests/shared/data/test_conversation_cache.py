"""Conversation cache: each version is decoded once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from shared.data.conversations.conversation_cache import SEGMENT_OVERHEAD_CHARS, ConversationCache
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Conversation, Segment, content_hash
from shared.domain.ids import ConversationId
from shared.domain.store.documents import Document

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def talk(name: str, text: str = "Ann likes Lisbon.") -> Conversation:
    return Conversation(
        id=ConversationId(name),
        created_at=NOON,
        started_at=NOON,
        finished_at=NOON,
        transcript_segments=(Segment(text=text),),
    )


def document(conversation: Conversation, version: str = "v1", uid: str = "ada") -> Document:
    path = f"users/{uid}/conversations/{conversation.id}"
    return Document(path=path, fields=dump(conversation), version=version)


def test_a_version_is_decoded_once():
    cache = ConversationCache()

    [first], [second] = (cache.decode_all([document(talk("c1"))]) for _ in range(2))

    assert first.conversation == talk("c1")
    assert first.content_hash == content_hash(talk("c1"))
    assert second is first


class EvictingDocuments:
    """Documents during whose reading another request takes the place in the cache."""

    def __init__(self, cache: ConversationCache) -> None:
        self._cache = cache

    async def get_many(self, paths: Sequence[str], *, known: Mapping[str, str]) -> list[Document]:
        self._cache.decode_all([document(talk("c2", "Eve " * 300))])
        return [Document(path=path, fields={}, version=known[path]) for path in paths]


async def test_a_version_that_is_held_is_not_read_again_even_if_it_is_evicted_meanwhile():
    cache = ConversationCache(max_chars=SEGMENT_OVERHEAD_CHARS + 1_200)
    [held] = cache.decode_all([document(talk("c1"))])
    documents: Any = EvictingDocuments(cache)

    assert await cache.load_all(documents, [document(talk("c1")).path]) == [held]
    assert len(cache) == 1


def test_a_new_version_is_decoded_again():
    cache, edited = ConversationCache(), talk("c1", "Ann likes Porto.")

    cache.decode_all([document(talk("c1"))])
    [entry] = cache.decode_all([document(edited, "v2")])

    assert (entry.conversation, entry.content_hash) == (edited, content_hash(edited))
    assert len(cache) == 1


def test_missing_and_malformed_documents_are_left_out():
    malformed = replace(document(talk("c1"), "v2"), fields={"started_at": "soon"})
    cache = ConversationCache()

    cache.decode_all([document(talk("c1"))])

    assert cache.decode_all([None, malformed]) == []
    assert len(cache) == 0


def test_conversations_of_two_users_with_the_same_id_are_cached_separately():
    cache, other_conversation = ConversationCache(), talk("c1", "Eve likes Rome.")

    cache.decode_all([document(talk("c1"))])
    [entry] = cache.decode_all([document(other_conversation, uid="eve")])

    assert entry.conversation == other_conversation


def test_the_least_recently_read_conversation_is_evicted_when_the_cache_is_full():
    max_chars = 2 * (SEGMENT_OVERHEAD_CHARS + len("Ann likes Lisbon."))
    cache = ConversationCache(max_chars=max_chars)
    first, second, third = (document(talk(name)) for name in ("c1", "c2", "c3"))

    [cached_entry] = cache.decode_all([first])
    [evicted_entry] = cache.decode_all([second])
    cache.decode_all([first])
    cache.decode_all([third])

    assert len(cache) == 2
    assert cache.decode_all([first])[0] is cached_entry
    assert cache.decode_all([second])[0] is not evicted_entry


def test_a_conversation_larger_than_the_cache_is_returned_but_not_cached():
    cache = ConversationCache(max_chars=100)

    assert len(cache.decode_all([document(talk("c1"))])) == 1
    assert len(cache) == 0
