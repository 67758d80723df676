"""Sizes: lists split and texts truncated so that they fit a limit."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def split_by_size(items: Iterable[T], size_of: Callable[[T], int], limit: int) -> Iterator[list[T]]:
    """Split into batches, in order, whose sizes add up to at most `limit`; none where nothing is.

    An item beyond the limit stands alone.
    """
    batch: list[T] = []
    batch_size = 0
    for item in items:
        size = size_of(item)
        if batch and batch_size + size > limit:
            yield batch
            batch, batch_size = [], 0
        batch.append(item)
        batch_size += size
    if batch:
        yield batch


def truncate(text: str, limit: int, *, end_chars: int = 0, advice: str = "") -> str:
    """Keep `limit` characters, the last `end_chars` of them from the end; say what is left out."""
    left_out_chars = len(text) - limit
    if left_out_chars <= 0:
        return text
    start, end = text[: limit - end_chars], text[len(text) - end_chars :]
    note = f"… {left_out_chars} characters left out{advice} …"
    return "\n".join(filter(None, [start, note, end]))
