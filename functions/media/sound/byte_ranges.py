"""Ranges of bytes: what of a file a player asks for, and the answer with just that.

Also called: HTTP range requests.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping

from starlette.responses import Response, StreamingResponse

from shared.domain.value import value

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
) -> Response:
    """Answer with a file of `size` bytes, or with the stretch asked for: at most `max_bytes` of it, or 416.

    `iterate` yields a stretch, of None the whole file.
    """
    match = _RANGE.fullmatch(range_header or "")
    if match is None or match.groups() == ("", ""):  # another range than we know may be ignored
        return StreamingResponse(iterate(None), media_type=media_type, headers=HEADERS)
    stretch = _find_stretch(match[1], match[2], size, max_bytes)
    if stretch is None:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}"})
    place = f"bytes {stretch.first}-{stretch.last}/{size}"
    headers = {**HEADERS, "Content-Range": place}
    return StreamingResponse(
        iterate(stretch), status_code=206, media_type=media_type, headers=headers
    )


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
