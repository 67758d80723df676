"""Exported record: what an export tells of a conversation beyond what HTTP returns."""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime

from shared.domain.conversations.conversation import (
    Assignment,
    Conversation,
    Edits,
    LabelledSegment,
    Segment,
    Speaker,
    Structured,
    Topics,
)
from shared.domain.ids import AppId, ConversationId
from shared.domain.value import value
from shared.library.conversation_schemas import ConversationOut

NAMES_IN_JSON = {"messages": "chat_messages"}
"""Collections that released apps know by another name."""


@value
class RecordedSpeaker:
    """Who speaks a segment, as its recorder told it: the owner may have said otherwise since."""

    speaker: str
    is_user: bool = False
    person_id: str | None = None


@value
class SummaryRating:
    """What the owner thinks of a summary; -1 where they were asked only."""

    value: int
    reason: str | None
    rated_at: datetime


@value
class ExportedRecord:
    """What an import needs so that the conversation is again what it was.

    `recorded` names by number the segments of which HTTP tells something else than the recorder did.
    `forgotten` are the memories and tasks that the owner deleted, with the collection of each: they are
    not derived again.
    """

    structured: Structured = field(default_factory=Structured)
    topics: Topics = field(default_factory=Topics)
    edits: Edits = field(default_factory=Edits)
    speakers: Mapping[str, Speaker] = field(default_factory=dict)
    assignments: tuple[Assignment, ...] = ()
    recorded: Mapping[int, RecordedSpeaker] = field(default_factory=dict)
    summary_app: AppId | None = None
    merged_from: tuple[ConversationId, ...] = ()
    kept_at: datetime | None = None
    transcript_deleted_at: datetime | None = None
    deleted_hash: str | None = None
    forgotten: Mapping[str, str] = field(default_factory=dict)
    rating: SummaryRating | None = None


class ExportedConversationOut(ConversationOut):
    """A conversation in an export."""

    record: ExportedRecord


def build_record(
    conversation: Conversation, forgotten: Mapping[str, str], rating: SummaryRating | None
) -> ExportedRecord:
    """Build the record of a conversation whose segments are loaded, with the present names of its people."""
    call = conversation.call_by_name
    return ExportedRecord(
        structured=conversation.structured,
        topics=conversation.topics,
        edits=conversation.edits,
        speakers={label: call(who) for label, who in conversation.speakers.items()},
        assignments=tuple(replace(a, speaker=call(a.speaker)) for a in conversation.assignments),
        recorded=_list_recorded(conversation),
        summary_app=conversation.summary_app,
        merged_from=conversation.merged_from,
        kept_at=conversation.kept_at,
        transcript_deleted_at=conversation.transcript_deleted_at,
        deleted_hash=conversation.deleted_hash,
        forgotten=forgotten,
        rating=rating,
    )


def _list_recorded(conversation: Conversation) -> dict[int, RecordedSpeaker]:
    pairs = zip(conversation.transcript_segments, conversation.labelled_segments, strict=True)
    return {
        number: RecordedSpeaker(
            speaker=segment.speaker, is_user=segment.is_user, person_id=segment.person_id
        )
        for number, (segment, shown) in enumerate(pairs)
        if not _is_shown_as_recorded(segment, shown)
    }


def _is_shown_as_recorded(segment: Segment, shown: LabelledSegment) -> bool:
    return (segment.speaker, segment.is_user, segment.person_id) == (
        shown.speaker_name or shown.speaker,
        shown.is_user,
        shown.person_id,
    )
