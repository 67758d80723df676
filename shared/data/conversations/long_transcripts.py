"""Long transcripts: work on them runs in a thread, so that no other request waits for its end.

Also called: thread pool, CPU-bound work.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from anyio import to_thread

from shared.domain.conversations.conversation import Conversation

T = TypeVar("T")

MAX_SEGMENTS_ON_THE_LOOP = 1_000
"""To split or hash the longest transcript, of 20,000 segments, takes half a second."""


async def run_beside_the_loop(conversations: Iterable[Conversation], work: Callable[[], T]) -> T:
    """Return what the work on these conversations returns; in a thread where they are long."""
    segments = sum(len(conversation.transcript_segments) for conversation in conversations)
    return await to_thread.run_sync(work) if segments > MAX_SEGMENTS_ON_THE_LOOP else work()
