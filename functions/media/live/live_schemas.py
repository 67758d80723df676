"""Schemas of live sound: what a device asks for, what it says beside its sound, and what it is told."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.conversations.live_conversation import MAX_PAUSE, MIN_PAUSE
from shared.domain.conversations.speaker_labels import number_speakers
from shared.domain.conversations.speech import Hearing, Utterance
from shared.domain.ids import ConversationId, UserId
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import SOURCES, ConversationOut
from shared.library.device_frames import FrameCodec, FrameDecoder

MAX_TEXT_CHARS = 100_000
_ENDLESS = -1
"""The app's word for the longest pause."""


class ListenQuery(BaseModel):
    """The query of a connection; what it does not know is ignored, as everywhere in the app's calls."""

    model_config = ConfigDict(extra="ignore")

    language: str = "multi"
    sample_rate: Annotated[int, Field(ge=8_000, le=48_000)] = 8_000
    codec: FrameCodec = "pcm8"
    conversation_timeout: int = 120
    source: str = "omi"
    custom_stt: Literal["enabled", "disabled"] = "disabled"

    @property
    def language_code(self) -> str | None:
        """The language as ISO 639-1; None where it is to be heard."""
        code = self.language.partition("-")[0].lower()
        return code if len(code) == 2 and code.isalpha() else None

    @property
    def pause(self) -> timedelta:
        if self.conversation_timeout == _ENDLESS:
            return MAX_PAUSE
        return timedelta(
            seconds=min(
                max(self.conversation_timeout, MIN_PAUSE.total_seconds()),
                MAX_PAUSE.total_seconds(),
            )
        )

    @property
    def known_source(self) -> str:
        return self.source if self.source in SOURCES else "omi"

    def build_decoder(self) -> FrameDecoder:
        """Build what decodes its frames; plain samples have 16 bits by either of their names."""
        codec = "pcm16" if self.codec == "pcm8" else self.codec
        return FrameDecoder(codec, self.sample_rate)


class PhotoChunkIn(BaseModel):
    """A part of a photo: `data` is a piece of its base64."""

    type: Literal["image_chunk"]
    id: Annotated[str, Field(min_length=1, max_length=128)]
    index: Annotated[int, Field(ge=0, lt=1_000)]
    total: Annotated[int, Field(gt=0, le=1_000)]
    data: str


class SuggestedSegmentIn(BaseModel):
    """What the app heard by itself, in seconds of its sound."""

    text: Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
    speaker: Annotated[str | None, Field(max_length=64)] = None
    start: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] = 0.0
    end: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] = 0.0


class SuggestedIn(BaseModel):
    """A transcript of the app's own transcriber."""

    type: Literal["suggested_transcript"]
    segments: Annotated[list[SuggestedSegmentIn], Field(max_length=200)]

    def to_hearing(self) -> Hearing:
        return Hearing(
            utterances=tuple(
                Utterance(
                    text=each.text.strip(),
                    start=each.start,
                    end=max(each.start, each.end),
                    speaker=each.speaker,
                )
                for each in self.segments
                if each.text.strip()
            )
        )


class EndIn(Wire):
    """A live conversation whose pause may have come, or whose end its owner asked for."""

    uid: UserId
    conversation_id: ConversationId
    is_asked: bool = False


def build_status(status: str, text: str) -> dict[str, Any]:
    return {"type": "service_status", "status": status, "status_text": text}


def build_segments(segments: Iterable[Segment], *, is_final: bool) -> list[Any]:
    """Build what the app shows at once; a segment of a known id takes the place of the one before."""
    spoken = [*segments]
    numbers = number_speakers(segment.speaker for segment in spoken)
    return [
        {
            "id": segment.id,
            "text": segment.text,
            "speaker": segment.speaker,
            "speaker_id": numbers[segment.speaker],
            "is_user": segment.is_user,
            "person_id": segment.person_id,
            "start": segment.start,
            "end": segment.end,
            "translations": [],
            "speech_profile_processed": True,
            "stt_provider": segment.stt_provider,
            "is_interim": not is_final,
        }
        for segment in spoken
    ]


def build_conversation_event(kind: str, conversation: Conversation) -> dict[str, Any]:
    memory = ConversationOut.of(conversation).model_dump(mode="json")
    return {"type": kind, "memory": memory, "messages": []}
