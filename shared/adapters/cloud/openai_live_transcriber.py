"""LiveTranscriber on OpenAI's Realtime transcription, by its reference; tried against a local server alone, without a key.

https://platform.openai.com/docs/guides/realtime-transcription, read in November 2026. It tells when speech begins
and ends, and no words' times.
"""

import base64
from array import array
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from shared.adapters.cloud.live_socket import LiveSocket, open_live_socket
from shared.domain.conversations.speech import SAMPLE_RATE, Hearing, Utterance, Window
from shared.domain.errors import ModelFailed, Unavailable
from shared.ports import LiveHearing

MODEL = "gpt-4o-transcribe"
RATE = 24_000
"""The only one that it takes."""
NOTHING_OPEN = "input_audio_buffer_commit_empty"
MAX_LAG_S = 1.5
"""So long after speech began it may still not be told."""
_PREFIX = "conversation.item.input_audio_transcription"


class OpenaiLiveTranscriber:
    name = "openai"
    is_ready = True

    def __init__(self, *, api_key: str, base_url: str) -> None:
        """`base_url` is that of HTTP, such as https://api.openai.com/v1."""
        self._api_key = api_key
        self._base_url = base_url

    @asynccontextmanager
    async def open(self, *, language: str | None = None) -> AsyncIterator[LiveHearing]:
        url = f"{self._base_url.replace('http', 'ws', 1)}/realtime?intent=transcription"
        headers = {"Authorization": f"Bearer {self._api_key}"}
        async with open_live_socket(url, headers, key_name="OPENAI_API_KEY") as socket:
            await socket.send(_build_session(language))
            yield _OpenaiHearing(socket)


def _build_session(language: str | None) -> dict[str, Any]:
    transcription = {"model": MODEL, **({"language": language} if language else {})}
    sound = {
        "format": {"type": "audio/pcm", "rate": RATE},
        "transcription": transcription,
        "turn_detection": {"type": "server_vad"},
    }
    session = {"type": "transcription", "audio": {"input": sound}}
    return {"type": "session.update", "session": session}


class _Fault(BaseModel):
    code: str | None = None


class _Event(BaseModel):
    """What OpenAI says; each type fills some of it, and others are passed over."""

    type: str
    item_id: str = ""
    audio_start_ms: float = 0.0
    audio_end_ms: float = 0.0
    delta: str = ""
    transcript: str = ""
    error: _Fault | None = None


@dataclass
class _Turn:
    """What is said without a pause, in seconds of the stream."""

    start: float
    end: float
    text: str = ""
    is_done: bool = False


class _OpenaiHearing:
    def __init__(self, socket: LiveSocket) -> None:
        self._socket = socket
        self._rest = array("h")
        self._position = 0.0
        self._turns: dict[str, _Turn] = {}
        self._told_until = 0.0
        self._is_ended = False
        self._is_committed = False

    @property
    def heard_until(self) -> float:
        lag_s = 0.0 if self._is_committed else MAX_LAG_S
        quiet_until = max(self._position - lag_s, self._told_until)
        return next((turn.start for turn in self._turns.values()), quiet_until)

    async def hear(self, samples: bytes) -> None:
        self._position += len(samples) / (2 * SAMPLE_RATE)
        sound = base64.b64encode(self._resample(samples)).decode()
        if sound:
            await self._socket.send({"type": "input_audio_buffer.append", "audio": sound})

    async def flush(self) -> None:
        """Have what is open transcribed, as if a pause had come."""
        await self._socket.send({"type": "input_audio_buffer.commit"})

    async def end(self) -> None:
        self._is_ended = True
        await self.flush()

    def give_up(self) -> Sequence[Window]:
        return ()

    async def iterate(self) -> AsyncGenerator[Hearing, None]:
        async for message in self._socket.iterate():
            try:
                event = _Event.model_validate_json(message)
            except ValidationError:
                continue
            self._take(event)
            for hearing in self._tell(event):
                yield hearing
            if self._is_committed and not self._turns:
                return

    def _take(self, event: _Event) -> None:
        """Raises ModelFailed for what the provider refuses, and Unavailable for what it did not hear."""
        if event.error is not None:
            if event.error.code != NOTHING_OPEN:
                raise ModelFailed("The provider of live speech does not take this stream.")
            self._is_committed = self._is_ended
        elif event.type == "input_audio_buffer.speech_started":
            start = event.audio_start_ms / 1_000
            self._turns[event.item_id] = _Turn(start=start, end=start)
        elif event.item_id in self._turns:
            self._change(self._turns[event.item_id], event)
        elif event.type == "input_audio_buffer.committed":  # because we asked for it
            self._turns[event.item_id] = _Turn(start=self._told_until, end=self._position)
            self._is_committed = self._is_ended

    def _change(self, turn: _Turn, event: _Event) -> None:
        if event.type == "input_audio_buffer.speech_stopped":
            turn.end = event.audio_end_ms / 1_000
        elif event.type == f"{_PREFIX}.delta":
            turn.text += event.delta
        elif event.type == f"{_PREFIX}.completed":
            turn.text, turn.is_done = event.transcript, True
        elif event.type == f"{_PREFIX}.failed":
            raise Unavailable("The provider of live speech did not hear what was said")

    def _tell(self, event: _Event) -> Iterator[Hearing]:
        """Yield the turns that are done, in their order, and what is being said in the first that is not."""
        for name, turn in [*self._turns.items()]:
            if not turn.is_done:
                if event.type == f"{_PREFIX}.delta" and event.item_id == name:
                    yield self._build(turn)
                return
            yield self._build(turn)
            self._told_until = turn.end
            del self._turns[name]

    def _build(self, turn: _Turn) -> Hearing:
        end = max(turn.end, turn.start) if turn.is_done else max(self._position, turn.start)
        text = turn.text.strip()
        said = (Utterance(text=text, start=turn.start, end=end),) if text else ()
        return Hearing(utterances=said, is_final=turn.is_done)

    def _resample(self, samples: bytes) -> bytes:
        """Return three samples for two, each between its neighbours."""
        self._rest.frombytes(samples)
        size = (len(self._rest) - 1) // 2
        if size < 1:
            return b""
        first, second, third = (self._rest[at : 2 * size + at // 2 : 2] for at in (0, 1, 2))
        resampled = array("h", bytes(6 * size))
        resampled[0::3] = first
        resampled[1::3] = array("h", ((a + 2 * b) // 3 for a, b in zip(first, second, strict=True)))
        resampled[2::3] = array("h", ((2 * b + c) // 3 for b, c in zip(second, third, strict=True)))
        del self._rest[: 2 * size]
        return resampled.tobytes()
