"""Attachments of a conversation: the photos taken during it, and texts of summary apps."""

from datetime import datetime

from shared.domain.ids import AppId
from shared.domain.value import value

_FIELD_BYTES = 400
"""What the names of a photo's fields, its time and its path take up at most."""


@value
class Photo:
    """A picture taken during a conversation; `base64` is its file, as the device sent it."""

    id: str | None = None
    base64: str | None = None
    description: str | None = None
    created_at: datetime | None = None
    discarded: bool = False

    def count_stored_bytes(self) -> int:
        """Count the bytes that it takes up at most, with the names of its fields."""
        texts = (self.id, self.base64, self.description)
        return _FIELD_BYTES + sum(len(text.encode()) for text in texts if text)


@value
class AppResult:
    """What a summary app made of a conversation."""

    content: str
    app_id: AppId | None = None
