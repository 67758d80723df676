"""Live conversation: what a device records while it is still spoken, until a pause ends it."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import chain

from shared.domain.conversations.attachments import Photo
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.ids import ConversationId
from shared.domain.value import value

MIN_PAUSE = timedelta(minutes=2)
MAX_PAUSE = timedelta(hours=4)
"""What the app may choose from; less would cut a conversation in which somebody thinks."""
MAX_LENGTH = timedelta(hours=4)
"""Who speaks on without a pause begins another conversation."""
MAX_TEXT_BYTES = 2_000_000
"""Of its segments as they are stored: more than anybody says in that time; then another begins as well."""
DEFAULT_LANGUAGE = "en"


@value
class LiveConversation:
    """A conversation under way; `started_at` is when its first words were said, from which its segments count.

    `device` tells the recorders of its owner apart: one that comes back goes on with it. What `is_ending`
    takes nothing more. `stream` is the connection that holds it. One that `is_set_aside` was refused when it
    was handed in: it is kept as it is.
    """

    id: ConversationId
    device: str
    source: str
    started_at: datetime
    last_words_at: datetime
    pause_s: int
    stream: str
    language: str | None = None
    is_ending: bool = False
    is_set_aside: bool = False
    text_bytes: int = 0
    photo_count: int = 0
    photo_bytes: int = 0

    @property
    def pause(self) -> timedelta:
        return timedelta(seconds=self.pause_s)

    def is_over(self, at: datetime) -> bool:
        """Tell whether what is said then belongs to another conversation."""
        return at - self.last_words_at >= self.pause or at - self.started_at >= MAX_LENGTH

    def is_full(self, more_bytes: int) -> bool:
        """Tell whether what is said after so many more bytes belongs to another conversation."""
        return self.text_bytes + more_bytes >= MAX_TEXT_BYTES


@value
class LiveBatch:
    """What was added to a live conversation at once; a repeat has the same id."""

    id: str
    segments: tuple[Segment, ...] = ()
    photos: tuple[Photo, ...] = ()

    @property
    def text_bytes(self) -> int:
        return sum(segment.count_stored_bytes() for segment in self.segments)

    @property
    def photo_bytes(self) -> int:
        return sum(photo.count_stored_bytes() for photo in self.photos)


def to_conversation(live: LiveConversation, batches: Iterable[LiveBatch]) -> Conversation:
    """Return the conversation that was recorded, in the order of its times, whatever came first."""
    kept = sorted(batches, key=lambda batch: batch.id)
    segments = chain.from_iterable(batch.segments for batch in kept)
    photos = chain.from_iterable(batch.photos for batch in kept)
    return Conversation(
        id=live.id,
        created_at=live.started_at,
        started_at=live.started_at,
        finished_at=max(live.last_words_at, live.started_at),
        source=live.source,
        language=live.language or DEFAULT_LANGUAGE,
        transcript_segments=tuple(sorted(segments, key=lambda each: (each.start, each.end))),
        photos=tuple(sorted(photos, key=lambda each: each.created_at or live.started_at)),
        status="in_progress",
    )
