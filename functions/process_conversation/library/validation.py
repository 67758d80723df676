"""Validation of conversations that users and apps send, as a whole, before anything is stored."""

from datetime import datetime, timedelta

from shared.domain.conversation import Conversation
from shared.domain.errors import Invalid, TooLarge

MAX_SEGMENT_BYTES = 100_000
MAX_TEXT_BYTES = 4_194_304
MAX_AHEAD = timedelta(days=1)
"""Device clocks are wrong by hours, not by more than a day."""


def validate_conversation(conversation: Conversation, now: datetime) -> None:
    """Check sizes and times. Raises TooLarge or Invalid with the text for the caller."""
    segments = conversation.transcript_segments
    if not segments:
        raise Invalid("transcript_segments: a conversation has at least one segment")
    sizes = [len(segment.text.encode()) for segment in segments]
    if max(sizes) > MAX_SEGMENT_BYTES:
        raise TooLarge(f"transcript_segments: at most {MAX_SEGMENT_BYTES} bytes a segment")
    if sum(sizes) > MAX_TEXT_BYTES:
        raise TooLarge(f"transcript_segments: at most {MAX_TEXT_BYTES} bytes of text")
    _validate_times(conversation, now)


def _validate_times(conversation: Conversation, now: datetime) -> None:
    if conversation.started_at > now + MAX_AHEAD:
        raise Invalid("started_at: lies in the future")
    if conversation.finished_at < conversation.started_at:
        raise Invalid("finished_at: lies before started_at")
