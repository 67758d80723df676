"""Pictures: decoded within bounds and written anew, without what else the file tells.

Also called: thumbnails, image resizing, EXIF removal.
"""

import io
from pathlib import Path
from typing import TYPE_CHECKING

from functions.media.files.file_content import FileContent, Unreadable
from shared.domain.files.file import MAX_PICTURE_SIDE

if TYPE_CHECKING:
    from PIL.Image import Image

PICTURE_TYPES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP", "image/gif": "GIF"}
MAX_PIXELS = 80_000_000
MAX_JPEG_SCANS = 100
"""A progressive JPEG goes over all its pixels in each; cameras and editors write about ten."""
THUMBNAIL_SIDE = 320
_QUALITIES = (85, 60, 30)
MAX_STORED_BYTES = 3_000_000


def read_picture(path: Path, media_type: str) -> FileContent:
    """Return a picture's first frame, upright, within MAX_PICTURE_SIDE. Raises Unreadable."""
    picture = _decode(path, media_type)
    return FileContent(
        media_type=media_type,
        picture=_encode(picture),
        width=picture.width,
        height=picture.height,
        thumbnail=build_thumbnail(picture),
    )


def build_thumbnail(picture: "Image") -> bytes:
    small = picture.copy()
    small.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    return _encode(small)


def _decode(path: Path, media_type: str) -> "Image":
    from PIL import Image, ImageOps

    _check_scans(path, media_type)
    Image.MAX_IMAGE_PIXELS = None  # in the process that reads this file alone; the limit is ours
    with Image.open(path, formats=[PICTURE_TYPES[media_type]]) as picture:
        width, height = picture.size
        if width * height > MAX_PIXELS:
            raise Unreadable(
                f"it has {width:,} × {height:,} pixels, at most {MAX_PIXELS:,} are read"
            )
        picture.draft("RGB", (MAX_PICTURE_SIDE, MAX_PICTURE_SIDE))  # speeds up JPEG alone
        picture.thumbnail((MAX_PICTURE_SIDE, MAX_PICTURE_SIDE))
        return ImageOps.exif_transpose(picture).convert("RGBA" if _has_alpha(picture) else "RGB")


def _check_scans(path: Path, media_type: str) -> None:
    """Raise Unreadable for a JPEG that is slow to decode: thirty bytes are one more scan."""
    if media_type == "image/jpeg" and path.read_bytes().count(b"\xff\xda") > MAX_JPEG_SCANS:
        raise Unreadable(f"it is a JPEG of more than {MAX_JPEG_SCANS} scans. Save it anew")


def _has_alpha(picture: "Image") -> bool:
    return "A" in picture.getbands() or "transparency" in picture.info


def _encode(picture: "Image") -> bytes:
    """Write it as WebP in the best quality that is small enough."""
    for quality in _QUALITIES:
        buffer = io.BytesIO()
        picture.save(buffer, "WEBP", quality=quality, alpha_quality=quality)
        if buffer.tell() <= MAX_STORED_BYTES:
            return buffer.getvalue()
    raise Unreadable("it cannot be made small enough. Send a simpler one")
