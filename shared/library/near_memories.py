"""Near memories: known facts that texts may repeat or contradict; the encoder and words propose, and others decide.

Also called: semantic deduplication, nearest neighbours.
"""

from collections.abc import Sequence
from itertools import chain, zip_longest

from shared import telemetry
from shared.data.search.search import Search
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.domain.memories.memory import Memory

MAX_TEXTS = 8
"""Texts that are compared, spread over all of them: each is encoded, and asks the index."""
NEAR_PER_TEXT = 3
"""Of 20 facts said in other words, each was the nearest of 150."""


async def find_near_memories(search: Search, uid: UserId, texts: Sequence[str]) -> list[Memory]:
    """Return the current memories nearest to texts, each once, the nearest to any of them first.

    Without an encoder they are found by words. While search is away there are none.
    """
    try:
        found = [
            await search.search_memories(uid, text, limit=NEAR_PER_TEXT) for text in _spread(texts)
        ]
    except Unavailable:
        telemetry.add_fields(near_memories="unavailable")
        return []
    by_rank = chain.from_iterable(zip_longest(*found))
    return [*{memory.id: memory for memory in by_rank if memory}.values()]


def _spread(texts: Sequence[str]) -> list[str]:
    """Return at most MAX_TEXTS of them, as far apart as they can be."""
    spoken = [text for text in texts if text.strip()]
    step = max(1, -(-len(spoken) // MAX_TEXTS))
    return spoken[::step]
