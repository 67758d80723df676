"""Schemas of recordings: how one is handed in, and how far its transcription is."""

from typing import Annotated, Self

from pydantic import Field

from shared.domain.conversations.recording import Recording, RecordingStatus
from shared.domain.ids import UserId
from shared.edge.declare.schemas import ID_PATTERN, LANGUAGE_CODE_PATTERN, Wire
from shared.library.conversation_schemas import FailureOut, Time, Utc
from shared.library.recordings import RecordingNotes


class AudioIn(Wire):
    """A file with speech: an upload that is complete, or the file of the form, whose sound is transcribed once.

    Without `started_at` the file's own time counts, else that of its arrival. With `is_own_voice`, a
    voice that is alone in it is the owner's, where speakers are told apart.
    """

    upload: Annotated[str | None, Field(pattern=ID_PATTERN)] = None
    started_at: Time | None = None
    language: Annotated[str | None, Field(pattern=LANGUAGE_CODE_PATTERN)] = None
    is_own_voice: bool = False

    def to_notes(self) -> RecordingNotes:
        return RecordingNotes(
            started_at=self.started_at, language=self.language, is_own_voice=self.is_own_voice
        )


class RecordingsQuery(Wire):
    """With `conversation_id`, only the recordings of that conversation, oldest first."""

    conversation_id: Annotated[str | None, Field(max_length=64)] = None


class SoundQuery(Wire):
    """Which recording of a merged conversation to hear; by default, the oldest that is kept."""

    recording: Annotated[str | None, Field(max_length=64)] = None


class RecordingOut(Wire):
    """A recording; `conversation_id` is that of its conversation once it is done.

    `transcribed_s` of `duration_s` seconds are text; a file may not say how long it is. It began at
    `started_at`, which may not be known before it is text.
    """

    id: str
    name: str
    status: RecordingStatus
    created_at: Utc
    started_at: Utc | None
    duration_s: float | None
    transcribed_s: float
    failure: FailureOut | None
    has_audio: bool
    conversation_id: str | None

    @classmethod
    def of(cls, recording: Recording) -> Self:
        failure = recording.failure
        return cls(
            id=recording.id,
            name=recording.name,
            status=recording.status,
            created_at=recording.created_at,
            started_at=recording.started_at,
            duration_s=recording.duration_s,
            transcribed_s=recording.transcribed_s,
            failure=FailureOut.model_validate(failure) if failure else None,
            has_audio=bool(recording.parts),
            conversation_id=recording.holder_id if recording.status == "done" else None,
        )


class RecordingsOut(Wire):
    """Recordings, newest first.

    `can_transcribe` is whether anything turns speech into text here, `tells_speakers` whether that tells
    speakers apart.
    """

    items: list[RecordingOut]
    can_transcribe: bool
    tells_speakers: bool


class TranscribeIn(Wire):
    """A recording that is to be transcribed."""

    uid: UserId
    recording_id: str
