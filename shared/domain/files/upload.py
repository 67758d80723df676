"""Upload: a file of a user that arrives in parts, each stored as a blob."""

from datetime import datetime, timedelta
from typing import NewType

from shared.domain.value import value

UploadId = NewType("UploadId", str)
MAX_UPLOAD_BYTES = 209_715_200
"""Of one file."""
MAX_PART_BYTES = 8_388_608
"""Of one request, and of one blob."""
MAX_PARTS = 400
"""A file in the smallest useful parts still fits into a document."""
UPLOAD_TTL = timedelta(days=7)


@value
class BlobPart:
    """A stretch of a file: the path of its blob, and its size in bytes."""

    path: str
    size: int


@value
class Upload:
    """A file of `length` bytes, of which the first `offset` arrived, as `parts` in their order.

    `name` and `media_type` are its sender's words: hints, not facts.
    """

    id: UploadId
    length: int
    created_at: datetime
    expires_at: datetime
    offset: int = 0
    name: str = ""
    media_type: str = ""
    parts: tuple[BlobPart, ...] = ()

    @property
    def is_complete(self) -> bool:
        return self.offset == self.length
