"""Validation of conversations that users and apps send, as a whole, before anything is stored."""

from datetime import datetime, timedelta

from shared.domain.amounts import describe_bytes
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import Invalid, TooLarge

MAX_SEGMENT_BYTES = 100_000
MAX_TEXT_BYTES = 4_194_304
MAX_PHOTO_BYTES = 2_000_000
"""All photos of a conversation; a list may hold many of these."""
MAX_STORED_BYTES = 6_700_000
"""Transcript and photos, as documents hold them: one commit, with room for what is written along."""
MAX_AHEAD = timedelta(days=1)
"""Device clocks are wrong by hours, not by more than a day."""


def validate_conversation(conversation: Conversation, now: datetime) -> None:
    """Check sizes and times. Raises TooLarge or Invalid with the text for the caller."""
    segments = conversation.transcript_segments
    if not segments:
        raise Invalid("The transcript must have at least one segment.")
    sizes = [segment.count_text_bytes() for segment in segments]
    if max(sizes) > MAX_SEGMENT_BYTES:
        raise TooLarge(
            f"The transcript must have at most {describe_bytes(MAX_SEGMENT_BYTES)} a segment."
        )
    if sum(sizes) > MAX_TEXT_BYTES:
        raise TooLarge(
            f"The transcript must have at most {describe_bytes(MAX_TEXT_BYTES)} of text."
        )
    if conversation.count_photo_bytes() > MAX_PHOTO_BYTES:
        raise TooLarge(f"The photos must have at most {describe_bytes(MAX_PHOTO_BYTES)} in all.")
    if conversation.count_stored_bytes() > MAX_STORED_BYTES:
        raise TooLarge(
            f"The transcript and the photos must have at most {describe_bytes(MAX_STORED_BYTES)} together, as they are "
            "stored. Leave photos out, or send the conversation in two parts."
        )
    _validate_times(conversation, now)


def _validate_times(conversation: Conversation, now: datetime) -> None:
    if conversation.started_at > now + MAX_AHEAD:
        raise Invalid("The started time must not lie in the future.")
    if conversation.finished_at < conversation.started_at:
        raise Invalid("The finished time must not lie before the started time.")
