"""Transcriber on OpenAI's `/audio/transcriptions`, at any compatible base URL.

Also called: speech to text, STT.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from pydantic import BaseModel, ValidationError

from shared.domain.conversations.speech import SAMPLE_RATE, Transcription, Utterance, Voice
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.failure import FailureReason
from shared.models.refusals import parse_retry_after_s

MAX_VOICES = 4
MAX_UTTERANCES = 5_000
MAX_TEXT_CHARS = 10_000
"""Of one utterance."""
BYTES_PER_S = 2 * SAMPLE_RATE
WAV_HEADER_BYTES = 44
_TIMEOUT = httpx2.Timeout(400.0, connect=5.0)
"""A server without a graphics card takes about as long as the sound lasts."""
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*")
_CAUSES: Mapping[int, tuple[FailureReason, str]] = {
    401: ("refused_key", "The transcription service refused the key: check TRANSCRIPTION_API_KEY or OPENAI_API_KEY."),
    403: ("refused_key", "The key may not use this transcription model: check TRANSCRIPTION_API_KEY and TRANSCRIPTION_MODEL."),
    404: ("unknown_model", "The transcription service does not know this model: set TRANSCRIPTION_MODEL to one that it has."),
    413: ("too_long", "The transcription service does not take so much sound at once."),
}  # fmt: skip


class _Segment(BaseModel):
    """A segment of `verbose_json` or `diarized_json`."""

    text: str
    start: float
    end: float
    speaker: str | None = None


class _Answer(BaseModel):
    """An answer in any format: with segments, or as text alone."""

    text: str = ""
    segments: list[_Segment] | None = None
    language: str | None = None


class OpenaiTranscriber:
    """The client retries twice, and is built on first use. The name of a model tells what it can do."""

    is_ready = True

    def __init__(self, *, api_key: str, base_url: str, model: str) -> None:
        self.name = model
        self._api_key = api_key
        self._base_url = base_url

    @property
    def tells_speakers(self) -> bool:
        return "diarize" in self.name

    async def transcribe(
        self,
        sound: bytes,
        *,
        language: str | None = None,
        voices: Sequence[Voice] = (),
        hint: str = "",
        is_draft: bool = False,
    ) -> Transcription:
        options = _build_options(self.name, language, voices[:MAX_VOICES], hint)
        try:
            response = await self._client.audio.transcriptions.with_raw_response.create(
                model=self.name, file=("sound.wav", sound, "audio/wav"), **options
            )
        except APIStatusError as error:
            raise _to_error(error) from None
        except APIConnectionError as error:
            raise Unavailable(f"no connection to the transcriber: {type(error).__name__}") from None
        return _parse_answer(response.content, _measure_s(sound))

    async def aclose(self) -> None:
        if "_client" in vars(self):
            await self._client.close()

    @cached_property
    def _client(self) -> AsyncOpenAI:
        return AsyncOpenAI(
            api_key=self._api_key, base_url=self._base_url, timeout=_TIMEOUT, max_retries=2
        )


def _build_options(
    model: str, language: str | None, voices: Sequence[Voice], hint: str
) -> dict[str, Any]:
    """Ask for speakers and times, as far as a model has them; one that tells speakers takes no prompt."""
    options = _hint_language(model, language) if language else {}
    if "diarize" in model:
        options |= {"response_format": "diarized_json", "chunking_strategy": "auto"}
        if voices:
            options["known_speaker_names"] = [voice.name for voice in voices]
            options["known_speaker_references"] = [_to_data_url(voice.clip) for voice in voices]
        return options
    if hint:
        options["prompt"] = hint
    return {**options, "response_format": "json" if model.startswith("gpt-") else "verbose_json"}


def _hint_language(model: str, language: str) -> dict[str, Any]:
    """Name the language of the sound; gpt-transcribe takes several, and no single one."""
    return {"languages": [language]} if model == "gpt-transcribe" else {"language": language}


def _to_data_url(clip: bytes) -> str:
    return "data:audio/wav;base64," + base64.b64encode(clip).decode()


def _to_error(error: APIStatusError) -> Unavailable | ModelFailed:
    """Name the cause; the provider's own text is left out, as it may quote what was sent."""
    status = error.status_code
    if status == 429 and error.code == "insufficient_quota":
        detail = "The account at the transcription service has no quota left."
        return ModelFailed(detail, reason="no_quota")
    if status in (408, 409, 429) or status >= 500:
        wait_s = parse_retry_after_s(error.response.headers)
        return Unavailable(f"the transcriber answered {status}", retry_after_s=wait_s)
    other: tuple[FailureReason, str] = (
        "other",
        f"The transcription service refused the sound (status {status}).",
    )
    is_unknown_model = error.code == "model_not_found"
    reason, detail = _CAUSES[404] if is_unknown_model else _CAUSES.get(status, other)
    return ModelFailed(detail, reason=reason)


def _parse_answer(content: bytes, duration_s: float) -> Transcription:
    try:
        answer = _Answer.model_validate_json(content)
    except ValidationError as error:
        detail = "The transcription service gave an answer that cannot be read."
        raise ModelFailed(detail, reason="malformed_answer") from error
    utterances = (
        [_to_utterance(segment, duration_s) for segment in answer.segments[:MAX_UTTERANCES]]
        if answer.segments
        else _spread(answer.text, duration_s)
    )
    return Transcription(
        utterances=tuple(utterance for utterance in utterances if utterance.text),
        language=answer.language if answer.language and len(answer.language) == 2 else None,
    )


def _to_utterance(segment: _Segment, duration_s: float) -> Utterance:
    """Keep times within the sound: a model may invent them."""
    start = min(max(segment.start, 0.0), duration_s)
    return Utterance(
        text=segment.text.strip()[:MAX_TEXT_CHARS],
        start=start,
        end=min(max(segment.end, start), duration_s),
        speaker=(segment.speaker or "").strip()[:64] or None,
    )


def _spread(text: str, duration_s: float) -> list[Utterance]:
    """Split a text without times into sentences, as long as their share of it."""
    sentences = [part for part in _SENTENCE.split(text.strip()) if part][:MAX_UTTERANCES]
    ends = [0]
    for sentence in sentences:
        ends.append(ends[-1] + len(sentence))
    return [
        Utterance(
            text=sentence[:MAX_TEXT_CHARS],
            start=duration_s * start / ends[-1],
            end=duration_s * end / ends[-1],
        )
        for sentence, (start, end) in zip(sentences, pairwise(ends), strict=True)
    ]


def _measure_s(sound: bytes) -> float:
    return max(len(sound) - WAV_HEADER_BYTES, 0) / BYTES_PER_S
