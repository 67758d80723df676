"""Transcriber that the console sets: each call asks the one whose key the model file holds then."""

from collections.abc import Callable, Sequence

from shared.adapters.embedded.model_file import ModelFile, ModelSetup
from shared.domain.speech import Transcription, Voice
from shared.ports import Transcriber


class ConfiguredTranscriber:
    """A change counts from the next call on."""

    def __init__(self, file: ModelFile, build: Callable[[ModelSetup | None], Transcriber]) -> None:
        self._file = file
        self._build = build
        self._version = file.find_version()
        self._transcriber = build(file.load())

    @property
    def name(self) -> str:
        return self._select().name

    @property
    def is_ready(self) -> bool:
        return self._select().is_ready

    async def transcribe(
        self, sound: bytes, *, language: str | None = None, voices: Sequence[Voice] = ()
    ) -> Transcription:
        return await self._select().transcribe(sound, language=language, voices=voices)

    def _select(self) -> Transcriber:
        version = self._file.find_version()
        if version != self._version:
            self._transcriber = self._build(self._file.load())
            self._version = version
        return self._transcriber
