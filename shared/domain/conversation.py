"""Conversation: its transcript and what processing extracts from it."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from datetime import datetime
from typing import Any, Literal

from shared.domain.claim import Claim
from shared.domain.ids import AppId, ConversationId, PersonId
from shared.domain.value import value

MAX_PARTS = 100
ConversationStatus = Literal["in_progress", "processing", "merging", "completed", "failed"]

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

    def to_fields(self) -> dict[str, Any]:
        """Return what dataclasses.asdict does, twenty times as fast: a transcript has thousands."""
        return {
            "text": self.text,
            "speaker": self.speaker,
            "is_user": self.is_user,
            "start": self.start,
            "end": self.end,
            "person_id": self.person_id,
        }


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
class Edits:
    """The user's changes to the structure; None where the user changed nothing."""

    title: str | None = None
    overview: str | None = None
    emoji: str | None = None
    category: str | None = None


@value
class Speaker:
    """The identity of a speaker: a person the user named, or the user."""

    name: str = ""
    person_id: PersonId | None = None
    is_user: bool = False


@value
class Conversation:
    """A conversation document. What stands below `status` is owned by the server.

    `parts` holds the SHA-256 of each part of a transcript that is too long to stand inline; then
    `transcript_segments` is empty until the parts are read.
    `held_by` is set while somebody works on it and never stored: the claim stands beside.
    `processed_hash` is the content that `structured`, the memories and the vectors were made from;
    `chunk_count` the number of vector chunks written for it. `speakers` says by label who spoke;
    `person_ids` names the people among them. What an app handed in carries its `app_id`.
    `text_bytes` is the size of its transcript, once it was handed in to us or processed. When the
    transcript is deleted and the rest stays, `deleted_hash` stands for its hash.
    """

    id: ConversationId
    created_at: datetime
    started_at: datetime
    finished_at: datetime
    source: str = "unknown"
    language: str = "en"
    transcript_segments: tuple[Segment, ...] = ()
    parts: tuple[str, ...] = ()

    status: ConversationStatus = "processing"
    discarded: bool = False
    structured: Structured = field(default_factory=Structured)
    topics: Topics = field(default_factory=Topics)
    held_by: Claim | None = None
    processed_hash: str | None = None
    chunk_count: int = 0
    failure: str | None = None
    edits: Edits = field(default_factory=Edits)
    speakers: Mapping[str, Speaker] = field(default_factory=dict)
    person_ids: tuple[PersonId, ...] = ()
    starred: bool = False
    app_id: AppId | None = None
    text_bytes: int = 0
    transcript_deleted_at: datetime | None = None
    deleted_hash: str | None = None

    @property
    def named_segments(self) -> tuple[Segment, ...]:
        """The transcript with the speakers' names as the user gave them."""
        if not self.speakers:
            return self.transcript_segments
        return tuple(map(self._apply_speaker, self.transcript_segments))

    @property
    def has_deleted_transcript(self) -> bool:
        """Tell whether the text was deleted, and its client has sent no other since."""
        return bool(self.deleted_hash) and not self.transcript_segments and not self.parts

    def count_text_bytes(self) -> int:
        """Count the UTF-8 bytes of the transcript, whose segments are loaded."""
        return sum(len(segment.text.encode()) for segment in self.transcript_segments)

    def _apply_speaker(self, segment: Segment) -> Segment:
        speaker = self.speakers.get(segment.speaker)
        if speaker is None:
            return segment
        return replace(
            segment,
            speaker=speaker.name or segment.speaker,
            person_id=speaker.person_id,
            is_user=speaker.is_user,
        )

    def __post_init__(self) -> None:
        """Refuse impossible values: clients write this document themselves."""
        if len(self.parts) > MAX_PARTS:
            raise ValueError(f"a transcript has at most {MAX_PARTS} parts")
        for time in (self.created_at, self.started_at, self.finished_at):
            if time.tzinfo is None or not 1900 <= time.year <= 9000:
                raise ValueError("a time has an offset and lies in the years 1900 to 9000")


def content_hash(conversation: Conversation, *, known_hash: str | None = None) -> str:
    """Hash what clients and the user own: transcript, speakers, and the user's changes.

    Our own writes never change it. `said` is the transcript's hash, where it is known.
    """
    names = {label: speaker.name for label, speaker in conversation.speakers.items()}
    edits = conversation.edits
    presentation = [edits.title, edits.overview, edits.emoji, edits.category, sorted(names.items())]
    return _hash_values([known_hash or transcript_hash(conversation), presentation])


def transcript_hash(conversation: Conversation) -> str:
    """Hash what a model reads: the transcript, without names and changes."""
    if conversation.has_deleted_transcript and conversation.deleted_hash:
        return conversation.deleted_hash
    hashed_values = [
        conversation.started_at.isoformat(),
        conversation.finished_at.isoformat(),
        conversation.source,
        conversation.language,
        *(_list_parts(conversation) if conversation.parts else _list_segments(conversation)),
    ]
    return _hash_values(hashed_values)


def _list_segments(conversation: Conversation) -> list[Any]:
    segment_pairs = zip(conversation.transcript_segments, conversation.named_segments, strict=True)
    return [
        [
            segment.text,
            segment.speaker,
            named_segment.is_user,
            float(segment.start),
            float(segment.end),
        ]
        for segment, named_segment in segment_pairs
    ]


def _list_parts(conversation: Conversation) -> list[Any]:
    speakers = conversation.speakers.items()
    return [*conversation.parts, sorted(label for label, speaker in speakers if speaker.is_user)]


def apply_edits(structured: Structured, edits: Edits) -> Structured:
    """Return a structure with the user's changes applied."""
    changes = {name: value for name, value in asdict(edits).items() if value is not None}
    return replace(structured, **changes)


def _hash_values(values: list[Any]) -> str:
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode()).hexdigest()
