"""Stored sound, opened and decoded piece by piece in a thread; a part is read when the decoder asks for it."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from io import BufferedReader
from typing import TypeVar

from anyio import CapacityLimiter, from_thread, to_thread

from shared.domain.files.upload import BlobPart
from shared.library.sound import PartsFile, Piece, Sound
from shared.library.uploads import read_part
from shared.ports import Blobs

T = TypeVar("T")


async def open_sound(blobs: Blobs, parts: tuple[BlobPart, ...]) -> Sound:
    """Raises Invalid for what is no sound."""

    def read_numbered(number: int) -> bytes:
        return from_thread.run(read_part, blobs, parts[number])

    file = PartsFile([part.size for part in parts], read_numbered)
    return await to_thread.run_sync(Sound, BufferedReader(file))


async def iterate_pieces(
    sound: Sound, *, limiter: CapacityLimiter | None = None
) -> AsyncIterator[Piece]:
    """Decode each piece when it is asked for. Raises as Sound.iterate_pieces()."""
    decode = partial(_next_or_none, sound.iterate_pieces())
    while (piece := await to_thread.run_sync(decode, limiter=limiter)) is not None:
        yield piece


def _next_or_none(items: Iterator[T]) -> T | None:
    return next(items, None)
