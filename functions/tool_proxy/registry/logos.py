"""Logos of apps: untrusted pictures, decoded within bounds and written anew before anybody sees them."""

import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from shared.domain.apps.app import AppLogo
from shared.domain.errors import Invalid

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_UPLOAD_BYTES = 1_048_576
MAX_PIXELS = 16_777_216
"""Of a JPEG, which is decoded at the size that is needed: as many as the photos of most phones have."""
MAX_DECODED_PIXELS = 6_291_456
"""Of what is decoded as a whole. An animated WebP takes 16 bytes for each, so this bounds it to 100 MB."""
MAX_JPEG_SCANS = 100
"""A progressive JPEG goes over all its pixels in each; cameras and editors write about ten."""
MAX_SIDE = 512
MAX_STORED_BYTES = 200_000
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_QUALITIES = (85, 60, 30, 10)
_ONE_AT_A_TIME = anyio.CapacityLimiter(1)
"""So that the memory of an instance is bounded, however many arrive."""
DEFAULT_LOGO = Path(__file__).with_name("default_logo.webp")


async def read_logo(content: bytes) -> AppLogo:
    """Decode a picture and write its first frame as WebP, within MAX_SIDE and MAX_STORED_BYTES.

    What else the file contained, such as where a photo was taken, is gone. Raises Invalid.
    """
    return await anyio.to_thread.run_sync(_convert, content, limiter=_ONE_AT_A_TIME)


def _convert(content: bytes) -> AppLogo:
    picture = _encode(_decode(content))
    return AppLogo(hash=hashlib.sha256(picture).hexdigest()[:32], content=picture)


def _decode(content: bytes) -> "Image":
    from PIL import Image, ImageOps

    _check_scans(content)
    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
            _check_size(picture, MAX_PIXELS)
            picture.draft("RGB", (MAX_SIDE, MAX_SIDE))  # changes the size of a JPEG alone
            _check_size(picture, MAX_DECODED_PIXELS)
            picture.thumbnail((MAX_SIDE, MAX_SIDE))
            return ImageOps.exif_transpose(picture).convert("RGBA")
    except Invalid:
        raise
    except Exception as error:
        # Decoders meet damaged files in many ways, and raise whatever they stumble over.
        raise Invalid("The file is no picture that can be read; send PNG, JPEG, WebP or GIF") from (
            error
        )


def _check_scans(content: bytes) -> None:
    """Raise Invalid for a JPEG that is slow to decode: thirty bytes are one more scan."""
    is_jpeg = content.startswith(b"\xff\xd8")
    if is_jpeg and content.count(b"\xff\xda") > MAX_JPEG_SCANS:
        raise Invalid(f"The JPEG has more than {MAX_JPEG_SCANS} scans; save it anew")


def _check_size(picture: "Image", max_pixels: int) -> None:
    """Raise Invalid, by what the header says, before anything is decoded."""
    width, height = picture.size
    if width * height > max_pixels:
        raise Invalid(
            f"The picture has {width} × {height} pixels; it must have at most {max_pixels:,}."
        )


def _encode(picture: "Image") -> bytes:
    """Write it in the best quality that is small enough."""
    for quality in _QUALITIES:
        buffer = io.BytesIO()
        picture.save(buffer, "WEBP", quality=quality, alpha_quality=quality)
        if buffer.tell() <= MAX_STORED_BYTES:
            return buffer.getvalue()
    raise Invalid("The picture cannot be made small enough; send a simpler one")
