"""Conversation: its transcript and what processing extracts from it."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, field, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Self

from shared.domain.conversations.attachments import AppResult, Photo
from shared.domain.conversations.claim import Claim
from shared.domain.conversations.figures import MAX_SECONDS, ConversationFigures
from shared.domain.conversations.place import Geolocation
from shared.domain.conversations.segment_ids import complete_ids
from shared.domain.conversations.speaker_labels import build_label, is_name, number_speakers
from shared.domain.failure import Failure, FailureReason
from shared.domain.ids import ActionItemId, AppId, ConversationId, FolderId, PersonId
from shared.domain.provenance import TextKinds
from shared.domain.tasks.action_item import TaskOwner
from shared.domain.value import value
from shared.domain.words import count_words

MAX_PARTS = 100
_SEGMENT_BYTES = 80
_TRANSLATION_BYTES = 20
"""What the names of fields, numbers and ends of texts take up at most."""
ConversationStatus = Literal["in_progress", "processing", "merging", "completed", "failed"]
Visibility = Literal["private", "shared"]

CATEGORIES = (
    "personal", "education", "health", "finance", "legal", "philosophy", "spiritual", "science",
    "entrepreneurship", "parenting", "romantic", "travel", "inspiration", "technology", "business",
    "social", "work", "sports", "politics", "literature", "history", "architecture", "music",
    "weather", "news", "entertainment", "psychology", "real", "design", "family", "economics",
    "environment", "other",
)  # fmt: skip
CONVERSATION_CHANGED_TOPIC = "conversation.changed"


@value
class Translation:
    """A segment in another language."""

    lang: str
    text: str


def _dump_translations(translations: tuple[Translation, ...]) -> list[dict[str, str]]:
    return [{"lang": translation.lang, "text": translation.text} for translation in translations]


@value
class Segment:
    """One uninterrupted piece of speech; `start` and `end` in seconds from `started_at`.

    `speaker` is what the recorder called who speaks: a label, or a name. `labelled_segments`
    has an id for each, also where the recorder gave none. `stt_provider` turned it into text, if that is known.
    """

    text: str
    speaker: str = "SPEAKER_00"
    is_user: bool = False
    start: float = 0.0
    end: float = 0.0
    person_id: str | None = None
    id: str | None = None
    translations: tuple[Translation, ...] = ()
    stt_provider: str | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.end)):
            raise ValueError("a segment begins and ends somewhere")

    def count_text_bytes(self) -> int:
        """Count the UTF-8 bytes of its text and its translations."""
        texts = [self.text, *(translation.text for translation in self.translations)]
        return sum(len(text.encode()) for text in texts)

    def count_stored_bytes(self) -> int:
        """Count the bytes that it takes up at most, with the names of its fields."""
        languages = [translation.lang for translation in self.translations]
        provider = self.stt_provider or ""
        names = "".join((self.speaker, self.person_id or "", self.id or "", provider, *languages))
        fields = _SEGMENT_BYTES + _TRANSLATION_BYTES * len(languages)
        return self.count_text_bytes() + len(names.encode()) + fields

    def to_fields(self) -> dict[str, Any]:
        """Return it as it is stored, in little time: a transcript has thousands."""
        translations = _dump_translations(self.translations)
        return {
            "text": self.text,
            "speaker": self.speaker,
            "is_user": self.is_user,
            "start": self.start,
            "end": self.end,
            "person_id": self.person_id,
            "id": self.id,
            **({"translations": translations} if translations else {}),
            **({"stt_provider": self.stt_provider} if self.stt_provider else {}),
        }


class LabelledSegment(NamedTuple):
    """A segment as everyone outside reads it: label, number and name of its speaker apart.

    `speaker` is SPEAKER_nn, `speaker_id` its number. `speaker_name` is what the owner or the recorder
    calls them, None where nobody does. A named tuple, because a list makes thousands.
    """

    id: str
    text: str
    speaker: str
    speaker_id: int
    speaker_name: str | None
    is_user: bool
    person_id: str | None
    start: float
    end: float
    translations: tuple[Translation, ...] = ()

    def to_fields(self) -> dict[str, Any]:
        """Return its fields, translations as fields too; twice as fast as _asdict()."""
        return {
            "id": self.id,
            "text": self.text,
            "speaker": self.speaker,
            "speaker_id": self.speaker_id,
            "speaker_name": self.speaker_name,
            "is_user": self.is_user,
            "person_id": self.person_id,
            "start": self.start,
            "end": self.end,
            "translations": _dump_translations(self.translations),
        }


@value
class ExtractedItem:
    """Something to do, as the conversation named it; `due_at` in UTC.

    `id` is that of its task. Where there is none, its words make it (`identify_items`). `owner` says
    whose it is, and `owner_name` how somebody else is called.
    """

    description: str
    completed: bool = False
    due_at: datetime | None = None
    id: ActionItemId | None = None
    owner: TaskOwner = "me"
    owner_name: str | None = None


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
    """The user's changes; None where the user changed nothing.

    `discarded` is whether the conversation counts as one, whatever a model says.
    """

    title: str | None = None
    overview: str | None = None
    emoji: str | None = None
    category: str | None = None
    discarded: bool | None = None


@value
class Speaker:
    """The identity of a speaker: a person the user named, or the user.

    `is_own_name`: they are the user because transcripts call the user by that name. A person's name is
    the one they had when they were named here; what they are called now stands with the person.
    """

    name: str = ""
    person_id: PersonId | None = None
    is_user: bool = False
    is_own_name: bool = False


@value
class Assignment:
    """Who spoke single segments, whoever else speaks under their label."""

    speaker: Speaker
    segment_ids: tuple[str, ...]


@value
class Conversation:
    """A conversation document. What stands below `status` is owned by the server.

    `parts` holds the SHA-256 of each part of a transcript that is too long to stand inline; then
    `transcript_segments` is empty until the parts are read.
    `held_by` is set while somebody works on it and never stored: the claim stands beside. Nor are `person_names`,
    what its people are called now: they come with its transcript.
    `processed_hash` is the content that `structured`, the memories and the vectors were made from;
    `chunk_count` the number of vector chunks written for it. `speakers` says by label who spoke,
    `assignments` who spoke single segments; `person_ids` names the people among them. What an app handed in carries its `app_id`.
    `text_bytes` is the size of its transcript, once it was handed in to us or processed. When the
    transcript is deleted and the rest stays, `deleted_hash` stands for its hash. `restored_hash` is the
    transcript whose structure came back with an export: no model is asked for it again. It is empty
    where an export brought what is derived from the conversation, and models are asked again. One that
    `is_imported` came with a file, and nobody waits for it.
    `apps_results` are texts of summary apps, the one to show first; `summary_app` is the one that the
    owner chose for this conversation. `listed_at` is when what lists
    sort and filter by was last written, by the server's clock. `photo_count` photos of `photo_bytes`
    in all are stored beside it, and not yet in `photos`. `share_token` is the secret of its link.
    One that was merged into another is as good as deleted, but can come back for an hour. `merged_from` names
    those that hold its words too: what it was made of, and merges that it came back from.
    `processed_at` is when processing last completed, `kept_at` when it first did without discarding
    it; None for what was processed before these times were stored. `marked_at` is when its owner was marked in it by
    their own names: models read it again within a budget. `figures` are added up for the owner.
    `dropped_memories` counts by reason what a model wanted to remember and was not kept. `failure` says in a sentence why
    processing failed, `failure_reason` the kind of it, `waiting_since` since when an outage lets it wait.
    """

    id: ConversationId
    created_at: datetime
    started_at: datetime
    finished_at: datetime
    source: str = "unknown"
    language: str = "en"
    transcript_segments: tuple[Segment, ...] = ()
    parts: tuple[str, ...] = ()
    photos: tuple[Photo, ...] = ()
    geolocation: Geolocation | None = None
    external_data: Mapping[str, Any] | None = None

    status: ConversationStatus = "processing"
    discarded: bool = False
    structured: Structured = field(default_factory=Structured)
    topics: Topics = field(default_factory=Topics)
    held_by: Claim | None = None
    processed_hash: str | None = None
    chunk_count: int = 0
    failure: str | None = None
    failure_reason: FailureReason = "other"
    waiting_since: datetime | None = None
    edits: Edits = field(default_factory=Edits)
    speakers: Mapping[str, Speaker] = field(default_factory=dict)
    assignments: tuple[Assignment, ...] = ()
    person_ids: tuple[PersonId, ...] = ()
    person_names: Mapping[PersonId, str] = field(default_factory=dict)
    starred: bool = False
    app_id: AppId | None = None
    text_bytes: int = 0
    transcript_deleted_at: datetime | None = None
    deleted_hash: str | None = None
    restored_hash: str | None = None
    is_imported: bool = False
    folder_id: FolderId | None = None
    visibility: Visibility = "private"
    share_token: str | None = None
    merged_into: ConversationId | None = None
    merged_from: tuple[ConversationId, ...] = ()
    apps_results: tuple[AppResult, ...] = ()
    suggested_summarization_apps: tuple[AppId, ...] = ()
    summary_app: AppId | None = None
    listed_at: datetime | None = None
    photo_count: int = 0
    photo_bytes: int = 0
    processed_at: datetime | None = None
    kept_at: datetime | None = None
    marked_at: datetime | None = None
    figures: ConversationFigures | None = None
    dropped_memories: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_by_anybody(self) -> bool:
        """Whether a program handed it in as a message or another text: nobody knows who wrote it."""
        return (self.external_data or {}).get("text_source") in ("message", "other_text")

    @property
    def text_kinds(self) -> TextKinds:
        """The kind of text that it is, for what is derived from it."""
        if self.app_id is not None:
            return ("app",)
        return ("import",) if self.is_imported else ("recording",)

    @property
    def failure_report(self) -> Failure | None:
        """Why processing failed, None where it did not."""
        if self.failure is None:
            return None
        return Failure(reason=self.failure_reason, detail=self.failure)

    @property
    def named_segments(self) -> tuple[Segment, ...]:
        """The transcript for models and search: speakers by name, as the user or recorder gave it."""
        if not self.speakers and not self.assignments:
            return self.transcript_segments
        return tuple(self.name_segments(range(len(self.transcript_segments))))

    def name_segments(self, turns: Iterable[int]) -> Iterator[Segment]:
        """Yield the named segments at these places of the transcript, counted from 0."""
        speakers = {label: self.call_by_name(who) for label, who in self.speakers.items()}
        assigned = {
            name: self.call_by_name(a.speaker) for a in self.assignments for name in a.segment_ids
        }
        ids = self.segment_ids if assigned else ()
        for turn in turns:
            segment = self.transcript_segments[turn]
            speaker = speakers.get(segment.speaker)
            yield _apply_speaker(segment, assigned.get(ids[turn], speaker) if ids else speaker)

    def call_by_name(self, speaker: Speaker) -> Speaker:
        """Return a speaker by the name that they have now, as far as it is known."""
        name = self.person_names.get(speaker.person_id) if speaker.person_id else None
        return replace(speaker, name=name) if name else speaker

    @property
    def segment_ids(self) -> list[str]:
        """An id for each segment, unique in the transcript, also where the recorder gave none."""
        return complete_ids([segment.id or "" for segment in self.transcript_segments])

    @property
    def labelled_segments(self) -> tuple[LabelledSegment, ...]:
        """The transcript for everyone else: speakers by label, their names beside it."""
        named_segments, numbers = self.named_segments, self.speaker_numbers
        labels = {name: build_label(number) for name, number in numbers.items()}
        spoken_names = {named.speaker for named in named_segments}
        names = {name: name if is_name(name) else None for name in spoken_names}
        return tuple(
            LabelledSegment(
                segment_id,
                segment.text,
                labels[segment.speaker],
                numbers[segment.speaker],
                names[named.speaker],
                named.is_user,
                named.person_id,
                float(segment.start),
                float(segment.end),
                segment.translations,
            )
            for segment_id, segment, named in zip(
                self.segment_ids, self.transcript_segments, named_segments, strict=True
            )
        )

    @property
    def speaker_numbers(self) -> Mapping[str, int]:
        """The number of each speaker, by what the recorder called them."""
        return number_speakers(map(attrgetter("speaker"), self.transcript_segments))

    def find_recorded_name(self, label: str) -> str | None:
        """Return what the recorder called the speaker of a label, None where there is no such one."""
        numbers = self.speaker_numbers.items()
        return next((name for name, n in numbers if label in (name, build_label(n))), None)

    @property
    def family(self) -> tuple[ConversationId, ...]:
        """Its own id, and those of conversations that hold its words too, as sources or as a merge."""
        return (self.id, *self.merged_from)

    @property
    def is_untouched(self) -> bool:
        """Tell whether nothing can be derived from it yet, and nothing of it was deleted by its owner."""
        is_own = len(self.family) == 1 and self.restored_hash is None
        return is_own and self.held_by is not None and self.held_by.is_first

    @property
    def is_marked_since(self) -> bool:
        """Tell whether its owner was marked in it since models read it last."""
        if self.marked_at is None:
            return False
        return self.processed_at is None or self.processed_at < self.marked_at

    @property
    def has_deleted_transcript(self) -> bool:
        """Tell whether the text was deleted, and its client has sent no other since."""
        return bool(self.deleted_hash) and not self.transcript_segments and not self.parts

    @property
    def has_restored_structure(self) -> bool:
        """Tell whether its structure came with an export, and its transcript is still the same."""
        return self.restored_hash is not None and self.restored_hash == transcript_hash(self)

    def count_text_bytes(self) -> int:
        """Count the UTF-8 bytes of the transcript, whose segments are loaded."""
        return sum(segment.count_text_bytes() for segment in self.transcript_segments)

    def measure(self) -> ConversationFigures:
        """Return the figures; those that were stored stand where the transcript is gone."""
        segments, structured = self.transcript_segments, self.structured
        if self.figures and not segments:
            return self.figures
        seconds = sum(max(0.0, segment.end - segment.start) for segment in segments)
        return ConversationFigures(
            seconds=round(min(seconds, MAX_SECONDS)),
            words=sum(count_words(segment.text) for segment in segments),
            insights=len(structured.action_items) + len(structured.events),
        )

    def count_photo_bytes(self) -> int:
        """Count the bytes of the photos, which are loaded, as they are stored."""
        return sum(len(photo.base64 or "") for photo in self.photos)

    def count_stored_bytes(self) -> int:
        """Count the bytes that transcript and photos, which are loaded, take up at most."""
        segments = sum(segment.count_stored_bytes() for segment in self.transcript_segments)
        return segments + sum(photo.count_stored_bytes() for photo in self.photos)

    def count_bytes(self) -> int:
        """Count the bytes of transcript and photos, loaded or not."""
        text_bytes = self.text_bytes or self.count_text_bytes()
        return text_bytes + self.photo_bytes + self.count_photo_bytes()

    def without_texts(self) -> Self:
        """Return it without transcript and photos."""
        return replace(self, transcript_segments=(), parts=(), photos=(), photo_count=0)

    def __post_init__(self) -> None:
        """Refuse impossible values: clients write this document themselves."""
        if len(self.parts) > MAX_PARTS:
            raise ValueError(f"a transcript has at most {MAX_PARTS} parts")
        for time in (self.created_at, self.started_at, self.finished_at):
            if time.tzinfo is None or not 1900 <= time.year <= 9000:
                raise ValueError("a time has an offset and lies in the years 1900 to 9000")


def _apply_speaker(segment: Segment, speaker: Speaker | None) -> Segment:
    if speaker is None:
        return segment
    return replace(
        segment,
        speaker=speaker.name or segment.speaker,
        person_id=speaker.person_id,
        is_user=speaker.is_user,
    )


def content_hash(conversation: Conversation, *, known_hash: str | None = None) -> str:
    """Hash what clients and the user own: transcript, speakers, and the user's changes.

    Our own writes never change it. `said` is the transcript's hash, where it is known.
    """
    names = {label: speaker.name for label, speaker in conversation.speakers.items()}
    edits = conversation.edits
    presentation = [
        *(edits.title, edits.overview, edits.emoji, edits.category, sorted(names.items())),
        *([a.speaker.name, *a.segment_ids] for a in conversation.assignments),
        *(() if edits.discarded is None else (edits.discarded,)),
        *([conversation.merged_into] if conversation.merged_into else []),
    ]
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


def hash_words(conversation: Conversation) -> str | None:
    """Hash what was said, whoever said it and when, to 64 bits; None where no words are at hand.

    Parts need not be loaded.
    """
    words = conversation.parts or [segment.text for segment in conversation.transcript_segments]
    return _hash_values([*words])[:16] if words else None


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
    return [
        *conversation.parts,
        sorted(label for label, speaker in speakers if speaker.is_user),
        *([a.speaker.is_user, *a.segment_ids] for a in conversation.assignments),
    ]


def apply_edits(structured: Structured, edits: Edits) -> Structured:
    """Return a structure with the user's changes applied."""
    changes = {
        name: value
        for name, value in asdict(edits).items()
        if value is not None and name != "discarded"
    }
    return replace(structured, **changes)


def _hash_values(values: list[Any]) -> str:
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode()).hexdigest()
