"""Transcriber where none is set up: it says so, and writes nothing down."""

from collections.abc import Sequence

from shared.domain.conversations.speech import Transcription, Voice
from shared.domain.errors import ModelFailed

NOT_SET_UP = (
    "Nothing is set up any more that turns speech into text. Start Keepsake with SPEECH=local, choose "
    "OpenAI as the model in the console, or set OPENAI_API_KEY or TRANSCRIPTION_BASE_URL, and retry."
)


class MissingTranscriber:
    name = "none"
    is_ready = False
    tells_speakers = False

    async def transcribe(
        self,
        sound: bytes,
        *,
        language: str | None = None,
        voices: Sequence[Voice] = (),
        hint: str = "",
        is_draft: bool = False,
    ) -> Transcription:
        raise ModelFailed(NOT_SET_UP, reason="refused_key")
