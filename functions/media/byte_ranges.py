"""Ranges of bytes: what of a file a player asks for, and the answer with just that.

Also called: HTTP range requests.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial

from starlette.responses import Response, StreamingResponse

from shared.domain.files.upload import BlobPart
from shared.domain.value import value
from shared.library.uploads import iterate_content, read_part
from shared.ports import Blobs

_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")
HEADERS: Mapping[str, str] = {
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-store",
    "X-Content-Type-Options": "nosniff",
}


@value
class Stretch:
    """Bytes `first` to `last` of a file, both included."""

    first: int
    last: int


def answer_range(
    range_header: str | None,
    iterate: Callable[[Stretch | None], AsyncIterator[bytes]],
    *,
    size: int,
    media_type: str,
    max_bytes: int | None = None,
    also: Mapping[str, str] | None = None,
) -> Response:
    """Answer with a file of `size` bytes, or with the stretch asked for: at most `max_bytes` of it, or 416.

    `iterate` yields a stretch, of None the whole file; `also` are further headers. No length is announced: Cloud
    Run refuses an answer that announces more than 32 MiB.
    """
    headers = {**HEADERS, **(also or {})}
    match = _RANGE.fullmatch(range_header or "")
    if match is None or match.groups() == ("", ""):  # another range than we know may be ignored
        return StreamingResponse(iterate(None), media_type=media_type, headers=headers)
    stretch = _find_stretch(match[1], match[2], size, max_bytes)
    if stretch is None:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}"})
    place = f"bytes {stretch.first}-{stretch.last}/{size}"
    return StreamingResponse(
        iterate(stretch),
        status_code=206,
        media_type=media_type,
        headers={**headers, "Content-Range": place},
    )


def answer_parts(
    range_header: str | None,
    blobs: Blobs,
    parts: Sequence[BlobPart],
    *,
    media_type: str,
    max_bytes: int | None = None,
    also: Mapping[str, str] | None = None,
) -> Response:
    """Do as answer_range(), with a file that is stored in parts."""
    return answer_range(
        range_header,
        partial(_iterate_stretch, blobs, parts),
        size=sum(part.size for part in parts),
        media_type=media_type,
        max_bytes=max_bytes,
        also=also,
    )


async def _iterate_stretch(
    blobs: Blobs, parts: Sequence[BlobPart], stretch: Stretch | None
) -> AsyncIterator[bytes]:
    """Yield the bytes of a stretch, and read no other part; of None, the whole file."""
    if stretch is None:
        async for content in iterate_content(blobs, parts):
            yield content
        return
    begin = 0
    for part in parts:
        end = begin + part.size
        if begin <= stretch.last and stretch.first < end:
            content = await read_part(blobs, part)
            yield content[max(stretch.first - begin, 0) : stretch.last + 1 - begin]
        begin = end


def _find_stretch(first: str, last: str, size: int, max_bytes: int | None) -> Stretch | None:
    """Return what is answered of a range; None outside of the file."""
    if not first:
        start, end = max(size - int(last), 0), size - 1
    else:
        start, end = int(first), min(int(last) if last else size - 1, size - 1)
    if start > end:
        return None
    return Stretch(first=start, last=min(end, start + (max_bytes or size) - 1))


async def cut(chunks: AsyncIterator[bytes], stretch: Stretch | None) -> AsyncIterator[bytes]:
    """Yield the bytes of a stretch, and ask for nothing behind it."""
    begin = 0
    async for chunk in chunks:
        if stretch is None:
            yield chunk
            continue
        yield chunk[max(stretch.first - begin, 0) : max(stretch.last + 1 - begin, 0)]
        begin += len(chunk)
        if begin > stretch.last:
            return
