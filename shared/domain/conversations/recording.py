"""Recording: a file with speech on its way to a conversation, which has the same id."""

from datetime import datetime, timedelta
from typing import Literal

from shared.domain.conversations.claim import LEASE_TTL
from shared.domain.errors import Unavailable
from shared.domain.failure import FailureReason
from shared.domain.files.upload import BlobPart
from shared.domain.ids import ConversationId
from shared.domain.value import value

RecordingStatus = Literal["transcribing", "done", "failed", "silent"]
"""In a `silent` one of a phone nobody speaks: there is no conversation, and its sound is deleted."""
MAX_DURATION = timedelta(hours=6)
MAX_PAUSE = timedelta(seconds=120)
"""What a recorder hears so soon after it was silent belongs to the same conversation."""
MAX_ATTEMPTS = 8
"""How often a transcription that found no connection is tried."""


@value
class RecordingFailure:
    """Why there is no conversation, in words for people, and whether trying again can help."""

    reason: FailureReason
    detail: str
    can_retry: bool


@value
class Recording:
    """A file with speech. Its first `transcribed_s` of `duration_s` seconds are text already.

    `started_at` is what its sender said, or the file, which was last changed at `changed_at`; with `is_own_voice`, a voice that is alone in it
    is the owner's. `parts` is its content, empty once that is deleted; `size` counts as stored until
    then. An `attempt` holds the lease. `conversation_id` is set where it is part of another conversation: a merge
    gave it to that, or it was recorded beside it. `file_ids` are the files of a phone that it was made of,
    `source` is their recorder and `target_id` the conversation that they, or live sound, belong to. Until `play_key_until`,
    whoever has the `play_key` may hear it.
    """

    id: ConversationId
    created_at: datetime
    size: int
    name: str = ""
    media_type: str = ""
    parts: tuple[BlobPart, ...] = ()
    started_at: datetime | None = None
    changed_at: datetime | None = None
    language: str | None = None
    is_own_voice: bool = False
    source: str | None = None
    file_ids: tuple[str, ...] = ()
    target_id: ConversationId | None = None
    status: RecordingStatus = "transcribing"
    duration_s: float | None = None
    transcribed_s: float = 0.0
    failure: RecordingFailure | None = None
    attempt: str | None = None
    lease_until: datetime | None = None
    attempt_count: int = 0
    conversation_id: ConversationId | None = None
    play_key: str = ""
    play_key_until: datetime | None = None

    @property
    def is_live(self) -> bool:
        """Whether it is sound of a stream that was not heard in time; what is kept of that holds it as well."""
        return self.target_id is not None and not self.file_ids

    @property
    def holder_id(self) -> ConversationId:
        """The conversation whose sound it is."""
        return self.conversation_id or self.id

    def check_free(self, now: datetime) -> None:
        """Raises Unavailable while an attempt holds the lease."""
        if self.lease_until is not None and self.lease_until > now:
            wait_s = (self.lease_until - now).total_seconds()
            raise Unavailable("Another attempt transcribes this recording", retry_after_s=wait_s)


def find_lease_end(now: datetime) -> datetime:
    return now + LEASE_TTL
