"""LiveTranscriber on Deepgram's streaming API, by its reference; tried against a local server alone, without a key.

https://developers.deepgram.com/reference/speech-to-text/listen-streaming, read in November 2026.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Annotated
from urllib.parse import urlencode

from pydantic import BaseModel, Field, ValidationError

from shared.adapters.cloud.live_socket import LiveSocket, open_live_socket
from shared.domain.conversations.speaker_labels import build_label
from shared.domain.conversations.speech import SAMPLE_RATE, Hearing, Utterance, Window
from shared.ports import LiveHearing

MODEL = "nova-3"
ANY_LANGUAGE = "multi"
_OPTIONS = {
    "encoding": "linear16",
    "sample_rate": SAMPLE_RATE,
    "channels": 1,
    "interim_results": "true",
    "smart_format": "true",
    "diarize": "true",
}


class _Word(BaseModel):
    word: str
    punctuated_word: str | None = None
    start: float
    end: float
    speaker: int | None = None


class _Alternative(BaseModel):
    words: list[_Word] = Field(default_factory=list)
    languages: list[str] = Field(default_factory=list)


class _Channel(BaseModel):
    alternatives: Annotated[list[_Alternative], Field(min_length=1)]


class _Results(BaseModel):
    """What was heard from `start` on; other messages have other types, and are passed over."""

    start: float
    duration: float
    is_final: bool
    channel: _Channel


class DeepgramLiveTranscriber:
    name = "deepgram"
    is_ready = True

    def __init__(self, *, api_key: str, base_url: str) -> None:
        """`base_url` is that of HTTP, such as https://api.deepgram.com."""
        self._api_key = api_key
        self._base_url = base_url

    @asynccontextmanager
    async def open(self, *, language: str | None = None) -> AsyncIterator[LiveHearing]:
        query = urlencode({**_OPTIONS, "model": MODEL, "language": language or ANY_LANGUAGE})
        url = f"{self._base_url.replace('http', 'ws', 1)}/v1/listen?{query}"
        headers = {"Authorization": f"Token {self._api_key}"}
        async with open_live_socket(url, headers, key_name="DEEPGRAM_API_KEY") as socket:
            yield _DeepgramHearing(socket)


class _DeepgramHearing:
    def __init__(self, socket: LiveSocket) -> None:
        self._socket = socket
        self.heard_until = 0.0

    async def hear(self, samples: bytes) -> None:
        if samples:  # an empty message would end the stream
            await self._socket.send(samples)

    async def flush(self) -> None:
        await self._socket.send({"type": "Finalize"})
        await self._socket.send(
            {"type": "KeepAlive"}
        )  # after ten seconds without sound it would close

    async def end(self) -> None:
        await self._socket.send({"type": "CloseStream"})

    def give_up(self) -> Sequence[Window]:
        return ()

    async def iterate(self) -> AsyncGenerator[Hearing, None]:
        async for message in self._socket.iterate():
            try:
                results = _Results.model_validate_json(message)
            except ValidationError:
                continue
            best = results.channel.alternatives[0]
            if best.words or results.is_final:
                yield Hearing(
                    utterances=tuple(_join_by_speaker(best.words)),
                    is_final=results.is_final,
                    language=best.languages[0][:2] if best.languages else None,
                )
            if results.is_final:
                self.heard_until = results.start + results.duration


def _join_by_speaker(words: Sequence[_Word]) -> list[Utterance]:
    groups = [[*group] for _, group in groupby(words, key=lambda word: word.speaker)]
    return [
        Utterance(
            text=" ".join(word.punctuated_word or word.word for word in group),
            start=group[0].start,
            end=group[-1].end,
            speaker=None if group[0].speaker is None else build_label(group[0].speaker),
        )
        for group in groups
    ]
