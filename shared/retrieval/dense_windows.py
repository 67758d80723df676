"""Dense windows: a few turns in a row, whose text is embedded as one."""

from collections.abc import Sequence
from itertools import chain

from shared.domain.store.sizes import split_by_size
from shared.retrieval.chunking import Chunk

WINDOW_TURNS = 4
MAX_WINDOW_CHARS = 1_000
"""Small embedders read no more: a long turn shares its window with fewer others."""

Window = list[Chunk]


def split_into_windows(chunks: Sequence[Chunk], turns: int = WINDOW_TURNS) -> list[Window]:
    """Split chunks into windows of at most `turns`, in order.

    A window lies within one group of so many chunks, so an edit changes the windows of its group alone.
    """
    groups = (chunks[start : start + turns] for start in range(0, len(chunks), turns))
    return list(chain.from_iterable(map(_split_group, groups)))


def format_window(window: Window) -> str:
    """Write a line for each chunk: the speaker, then the text."""
    return "\n".join(f"{chunk.speaker}: {chunk.text}" for chunk in window)


def _split_group(group: Sequence[Chunk]) -> list[Window]:
    return list(split_by_size(group, lambda chunk: len(chunk.text), MAX_WINDOW_CHARS))
