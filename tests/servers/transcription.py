"""Transcription on loopback: `/audio/transcriptions` as OpenAI and compatible servers speak it."""

import base64
import io
import wave
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

KEY = "transcription-key"


@dataclass
class ReceivedSound:
    """One request: its fields, how long its sound is in seconds, and the key it came with."""

    fields: Mapping[str, list[str]]
    duration_s: float
    authorization: str


def build_open_gate() -> Event:
    gate = Event()
    gate.set()
    return gate


@dataclass
class FakeTranscription:
    """Answers each request with the next of `answers`: a body, or a status with a body.

    While its `gate` is closed, it answers nobody.
    """

    answers: list[Any] = field(default_factory=list)
    default: Any = None
    gate: Event = field(default_factory=build_open_gate)
    requests: list[ReceivedSound] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        route = Route("/v1/audio/transcriptions", self._transcribe, methods=["POST"])
        return Starlette(routes=[route])

    async def _transcribe(self, request: Request) -> Response:
        async with request.form(max_part_size=30_000_000) as form:
            self.requests.append(await _read(form, request.headers.get("authorization", "")))
        await anyio.to_thread.run_sync(self.gate.wait)
        answer = self.answers.pop(0) if self.answers else self.default
        if isinstance(answer, tuple):
            status, body = answer
            return JSONResponse(body, status)
        return Response(answer) if isinstance(answer, bytes) else JSONResponse(answer)


async def _read(form: FormData, authorization: str) -> ReceivedSound:
    file = form["file"]
    assert isinstance(file, UploadFile)
    texts = {
        name: [text for text in form.getlist(name) if isinstance(text, str)]
        for name in form
        if name != "file"
    }
    return ReceivedSound(texts, measure_wav_s(await file.read()), authorization)


def measure_wav_s(content: bytes) -> float:
    """Return how long a WAV is; it must be mono at 16 kHz."""
    with wave.open(io.BytesIO(content)) as file:
        assert (file.getnchannels(), file.getframerate(), file.getsampwidth()) == (1, 16_000, 2)
        return float(file.getnframes() / file.getframerate())


def measure_data_url_s(url: str) -> float:
    prefix, _, content = url.partition(",")
    assert prefix == "data:audio/wav;base64"
    return measure_wav_s(base64.b64decode(content))


def diarized(*lines: tuple[str, float, float, str]) -> dict[str, Any]:
    """Build an answer of `diarized_json` from speaker, start, end and text."""
    segments = [
        {
            "id": f"seg_{n}",
            "type": "transcript.text.segment",
            "speaker": speaker,
            "start": start,
            "end": end,
            "text": f" {text}",
        }
        for n, (speaker, start, end, text) in enumerate(lines)
    ]
    text = " ".join(line[3] for line in lines)
    return {"task": "transcribe", "duration": 1.0, "text": text, "segments": segments}


def refuse(status: int, code: str | None = None) -> tuple[int, dict[str, Any]]:
    return status, {"error": {"message": "secret text", "type": "x", "param": None, "code": code}}
