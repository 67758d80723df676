"""Photos of a device: put together from the chunks in which they come."""

import base64
import binascii

from functions.media.live.live_schemas import PhotoChunkIn

MAX_PHOTO_CHARS = 700_000
"""Of base64: a document holds one."""
MAX_PARTIAL_PHOTOS = 2


class PhotoChunks:
    """Photos under way; an older one that never ends makes room for a newer."""

    def __init__(self) -> None:
        self._partial: dict[str, dict[int, str]] = {}

    def add(self, chunk: PhotoChunkIn) -> str | None:
        """Return the base64 of a photo whose last chunk this is; one that is none is dropped."""
        chunks = self._partial.setdefault(chunk.id, {})
        chunks[chunk.index] = chunk.data
        if sum(map(len, chunks.values())) > MAX_PHOTO_CHARS:
            del self._partial[chunk.id]
            return None
        if len(chunks) < chunk.total:
            if len(self._partial) > MAX_PARTIAL_PHOTOS:
                del self._partial[next(iter(self._partial))]
            return None
        del self._partial[chunk.id]
        return _check("".join(chunks[number] for number in sorted(chunks)))


def _check(text: str) -> str | None:
    import filetype

    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return text if filetype.is_image(content) else None
