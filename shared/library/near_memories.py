"""Near memories: known facts that new ones may repeat or contradict; the encoder and words propose, others decide.

Also called: semantic deduplication, nearest neighbours.
"""

import re
from collections.abc import Sequence
from itertools import chain, zip_longest

from shared import telemetry
from shared.data.search.search import Search
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.domain.memories.memory import Memory

MAX_FACTS = 8
"""Facts that are compared, spread over all of them: each is encoded, and asks the index."""
NEAR_PER_FACT = 3
"""Of 20 facts said in other words, each was the nearest of 150."""


async def find_near_memories(search: Search, uid: UserId, facts: Sequence[str]) -> list[Memory]:
    """Return the current memories nearest to facts, each once, the nearest to any of them first.

    Without an encoder they are found by words. While search is away there are none.
    """
    try:
        found = [
            await search.search_memories(uid, text, limit=NEAR_PER_FACT)
            for text in map(_leave_out_owner, _spread(facts))
        ]
    except Unavailable:
        telemetry.add_fields(near_memories="unavailable")
        return []
    by_rank = chain.from_iterable(zip_longest(*found))
    return [*{memory.id: memory for memory in by_rank if memory}.values()]


def _spread(facts: Sequence[str]) -> list[str]:
    """Return at most MAX_FACTS of them, as far apart as they can be."""
    step = max(1, -(-len(facts) // MAX_FACTS))
    return [*facts[::step]]


def _leave_out_owner(fact: str) -> str:
    """Leave out whom nearly all facts are about: by this word they would all be near."""
    return re.sub(r"^User(['’]s)?\b", "", fact).strip() or fact
