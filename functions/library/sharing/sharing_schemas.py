"""Schemas of sharing: the link, and what everyone who has it may read."""

from typing import Literal, Self

from shared.domain.conversations.conversation import Conversation, LabelledSegment, Visibility
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import EventOut, Utc


class ConversationVisibilityQuery(Wire):
    value: Visibility


class ShareOut(Wire):
    """`url` leads anyone who has it to the conversation; null while it is private."""

    status: Literal["ok"] = "ok"
    visibility: Visibility
    url: str | None


class SharedItemOut(Wire):
    description: str
    completed: bool


class SharedStructureOut(Wire):
    title: str
    overview: str
    emoji: str
    category: str
    action_items: list[SharedItemOut]
    events: list[EventOut]


class SharedSegmentOut(Wire):
    """`speaker` is SPEAKER_nn; `speaker_name` is null where none is known."""

    text: str
    speaker: str
    speaker_name: str | None
    is_user: bool
    start: float
    end: float

    @classmethod
    def of(cls, segment: LabelledSegment) -> Self:
        """Copy it unchecked: a transcript has thousands."""
        return cls.model_construct(
            text=segment.text,
            speaker=segment.speaker,
            speaker_name=segment.speaker_name,
            is_user=segment.is_user,
            start=segment.start,
            end=segment.end,
        )


class SharedConversationOut(Wire):
    """A shared conversation: what was said, and its summary. It names no ids, people or places."""

    created_at: Utc
    started_at: Utc
    finished_at: Utc
    language: str
    structured: SharedStructureOut
    transcript_segments: list[SharedSegmentOut]

    @classmethod
    def of(cls, conversation: Conversation) -> Self:
        return cls(
            created_at=conversation.created_at,
            started_at=conversation.started_at,
            finished_at=conversation.finished_at,
            language=conversation.language,
            structured=SharedStructureOut.model_validate(conversation.structured),
            transcript_segments=list(map(SharedSegmentOut.of, conversation.labelled_segments)),
        )
