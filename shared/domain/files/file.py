"""File: what a user hands to the assistant, read once into pages of text or a picture."""

from datetime import datetime
from math import ceil
from typing import Literal

from shared.domain.files.upload import BlobPart
from shared.domain.ids import FileId, ProjectId
from shared.domain.value import value

FileStatus = Literal["processing", "ready", "rejected"]
PDF_TYPE = "application/pdf"
MAX_FILE_BYTES = 104_857_600
MAX_FILE_TOKENS = 200_000
MAX_ATTEMPTS = 3
"""After so many readings that ended their process, a file is rejected."""
MAX_PICTURE_SIDE = 2_048
_TILE_SIDE = 16
_TOKENS_OF_PICTURE = 32


@value
class Page:
    """A page of a document, a sheet of a table or a slide, by its number from 1; or a whole text."""

    number: int
    text: str


@value
class File:
    """A file. `parts` is its content as it was sent, `media_type` what its bytes say it is.

    A `ready` one has pages, or is a picture of `width` × `height` pixels as models get it. A
    `rejected` one says why in `reason`, for people. `chunk_count` rows find it. Whoever knows
    `thumbnail_key` may see its thumbnail, and with `document_key` open a PDF. It belongs to the projects of `project_ids`.
    One of a `postponed_count` was tried, and needs a turn of those that are read for long.
    """

    id: FileId
    created_at: datetime
    name: str
    size: int
    parts: tuple[BlobPart, ...] = ()
    media_type: str = "application/octet-stream"
    status: FileStatus = "processing"
    reason: str = ""
    token_count: int = 0
    char_count: int = 0
    page_count: int = 0
    chunk_count: int = 0
    width: int = 0
    height: int = 0
    has_thumbnail: bool = False
    thumbnail_key: str = ""
    document_key: str = ""
    attempt_count: int = 0
    postponed_count: int = 0
    project_ids: tuple[ProjectId, ...] = ()

    @property
    def is_picture(self) -> bool:
        return self.media_type.startswith("image/")


def count_picture_tokens(width: int, height: int) -> int:
    """Count the tokens that a picture of so many pixels is assumed to be."""
    return ceil(width / _TILE_SIDE) * ceil(height / _TILE_SIDE) + _TOKENS_OF_PICTURE
