"""Dense windows: turns in a row, whose text is embedded as one."""

from collections.abc import Sequence
from itertools import chain

from shared.domain.store.sizes import split_by_size
from shared.retrieval.chunking import Chunk

WINDOW_CHARS = 600
"""About 110 words: a line of a chat says enough by itself, a meeting's short turns only together."""
GROUP_CHUNKS = 32

Window = list[Chunk]


def split_into_windows(chunks: Sequence[Chunk], chars: int = WINDOW_CHARS) -> list[Window]:
    """Split chunks into windows of at most `chars` characters, in order; a longer chunk is one of its own.

    A window lies within one group of GROUP_CHUNKS, so an edit changes the windows of its group alone.
    """
    groups = (chunks[n : n + GROUP_CHUNKS] for n in range(0, len(chunks), GROUP_CHUNKS))
    return [
        *chain.from_iterable(
            split_by_size(group, lambda chunk: len(chunk.text), chars) for group in groups
        )
    ]


def format_window(window: Window) -> str:
    """Write a line for each chunk: the speaker, where they have no other name later, then the text."""
    return "\n".join(
        f"{chunk.speaker}: {chunk.text}" if chunk.speaker else chunk.text for chunk in window
    )
