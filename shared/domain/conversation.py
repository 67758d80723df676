"""A conversation: what was said, and what was made of it."""

import hashlib
import json
import math
from dataclasses import field
from datetime import datetime
from typing import Literal

from shared.domain.ids import ConversationId
from shared.domain.value import value

MAX_PARTS = 100
Status = Literal["in_progress", "processing", "merging", "completed", "failed"]

CATEGORIES = (
    "personal", "education", "health", "finance", "legal", "philosophy", "spiritual", "science",
    "entrepreneurship", "parenting", "romantic", "travel", "inspiration", "technology", "business",
    "social", "work", "sports", "politics", "literature", "history", "architecture", "music",
    "weather", "news", "entertainment", "psychology", "real", "design", "family", "economics",
    "environment", "other",
)  # fmt: skip


@value
class Segment:
    """One uninterrupted piece of speech; `start` and `end` in seconds from `started_at`."""

    text: str
    speaker: str = "SPEAKER_00"
    is_user: bool = False
    start: float = 0.0
    end: float = 0.0
    person_id: str | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.end)):
            raise ValueError("a segment begins and ends somewhere")


@value
class ExtractedItem:
    """Something to do, as the conversation named it; `due_at` in UTC."""

    description: str
    completed: bool = False
    due_at: datetime | None = None


@value
class Event:
    """Something that will happen; `duration` in minutes, at most 180."""

    title: str
    start: datetime
    description: str = ""
    duration: int = 30
    created: bool = False


@value
class Structured:
    """What a conversation was about. `category` is one of CATEGORIES."""

    title: str = ""
    overview: str = ""
    emoji: str = "🧠"
    category: str = "other"
    action_items: tuple[ExtractedItem, ...] = ()
    events: tuple[Event, ...] = ()


@value
class Topics:
    """What a conversation mentions; searched as vector metadata. `dates` are ISO days."""

    people: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()


@value
class Claim:
    """Who processes which content: `attempt` is the fencing token, `lease_until` in UTC."""

    content_hash: str
    attempt: int
    lease_until: datetime


@value
class Conversation:
    """A conversation document. What stands below `status` is owned by the server.

    `parts` holds the SHA-256 of each part of a transcript that is too long to stand inline; then
    `transcript_segments` is empty until the parts are read.
    `processed_hash` is the content that `structured`, the memories and the vectors were made from;
    `chunk_count` the number of vector chunks written for it.
    """

    id: ConversationId
    created_at: datetime
    started_at: datetime
    finished_at: datetime
    source: str = "unknown"
    language: str = "en"
    transcript_segments: tuple[Segment, ...] = ()
    parts: tuple[str, ...] = ()

    status: Status = "processing"
    discarded: bool = False
    structured: Structured = field(default_factory=Structured)
    topics: Topics = field(default_factory=Topics)
    claim: Claim | None = None
    processed_hash: str | None = None
    chunk_count: int = 0
    failure: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no recording has: clients write this document themselves."""
        if len(self.parts) > MAX_PARTS:
            raise ValueError(f"a transcript has at most {MAX_PARTS} parts")
        for time in (self.created_at, self.started_at, self.finished_at):
            if time.tzinfo is None or not 1900 <= time.year <= 9000:
                raise ValueError("a time has an offset and lies in the years 1900 to 9000")


def content_hash(conversation: Conversation) -> str:
    """Hash the client-owned fields; what we write ourselves never changes it."""
    said = [
        [s.text, s.speaker, s.is_user, float(s.start), float(s.end)]
        for s in conversation.transcript_segments
    ]
    owned = [
        conversation.started_at.isoformat(),
        conversation.finished_at.isoformat(),
        conversation.source,
        conversation.language,
        said if not conversation.parts else conversation.parts,
    ]
    return hashlib.sha256(json.dumps(owned, ensure_ascii=False).encode()).hexdigest()
