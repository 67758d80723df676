"""Transcriber that the console sets: each call asks the one whose key the model file holds then."""

from collections.abc import Sequence

from shared.adapters.embedded.chosen import Chosen
from shared.domain.conversations.speech import Transcription, Voice
from shared.ports import Transcriber


class ConfiguredTranscriber:
    """A change counts from the next call on."""

    def __init__(self, chosen: Chosen[Transcriber]) -> None:
        self._chosen = chosen

    @property
    def name(self) -> str:
        return self._chosen.get().name

    @property
    def is_ready(self) -> bool:
        return self._chosen.get().is_ready

    @property
    def tells_speakers(self) -> bool:
        return self._chosen.get().tells_speakers

    async def transcribe(
        self,
        sound: bytes,
        *,
        language: str | None = None,
        voices: Sequence[Voice] = (),
        hint: str = "",
        is_draft: bool = False,
    ) -> Transcription:
        return await self._chosen.get().transcribe(
            sound, language=language, voices=voices, hint=hint, is_draft=is_draft
        )
