"""Transcriber on this machine: Whisper in a process of its own, which is started with the first sound.

Also called: local speech recognition, offline speech to text.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

from pydantic import BaseModel, ValidationError

from shared.domain.conversations.speech import Transcription, Utterance, Voice
from shared.domain.errors import ModelFailed

MAX_LINE_BYTES = 8_000_000
MAX_NO_SPEECH = 0.6
MIN_LOG_PROBABILITY = -1.0
MAX_COMPRESSION = 2.4
"""By these bounds Whisper itself reads a stretch again; what stays beyond them is invented, not heard."""
PAUSE_S = 1.0
"""So long a silence ends an utterance, as the end of a sentence does."""
ENDED = (
    "The process that turns speech into text ended with code {code}. Perhaps the memory does not suffice "
    "for its model: name a smaller one with SPEECH_MODEL, or try again."
)
_SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", "؟", "।")


class HeardWord(BaseModel):
    """A word with the space before it, and its times in seconds."""

    text: str
    start: float
    end: float


class HeardSegment(BaseModel):
    """A stretch of words, and Whisper's own doubts about it.

    `no_speech` is how likely nobody speaks, 0 to 1, and `log_probability` the mean of the words'. What compresses
    well repeats itself.
    """

    no_speech: float
    log_probability: float
    compression: float
    words: list[HeardWord]

    @property
    def is_invented(self) -> bool:
        is_unlikely = self.log_probability < MIN_LOG_PROBABILITY
        return self.compression > MAX_COMPRESSION or (
            is_unlikely and self.no_speech > MAX_NO_SPEECH
        )


class _Answer(BaseModel):
    segments: list[HeardSegment]
    language: str


class LocalTranscriber:
    """Hears one sound at a time; `command` starts the program. It does not tell speakers apart."""

    is_ready = True
    tells_speakers = False

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self._command = command
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    async def transcribe(
        self,
        sound: bytes,
        *,
        language: str | None = None,
        voices: Sequence[Voice] = (),
        hint: str = "",
        is_draft: bool = False,
    ) -> Transcription:
        async with self._lock:
            answer = await self._ask(
                sound, {"language": language, "hint": hint, "is_draft": is_draft}
            )
        heard = [segment for segment in answer.segments if not segment.is_invented]
        utterances = tuple(
            each for segment in heard for each in split_into_utterances(segment.words)
        )
        return Transcription(
            utterances=utterances, language=answer.language if utterances else None
        )

    async def aclose(self) -> None:
        """End the process; the next sound starts another."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _ask(self, sound: bytes, options: Mapping[str, object]) -> _Answer:
        """Return the answer. Where none comes, or nobody waits for it, the process ends: the next would read it."""
        try:
            header = {"size_bytes": len(sound), **options}
            line = await _exchange(await self._find_process(), header, sound)
            if not line:  # it was about to end, as no sound had come for long
                await self.aclose()
                line = await _exchange(await self._find_process(), header, sound)
            return _parse_answer(line)
        except BaseException:
            await asyncio.shield(self.aclose())
            raise

    async def _find_process(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await _start(self._command)
        return self._process


async def _start(command: Sequence[str]) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=MAX_LINE_BYTES,
        )
    except OSError as error:
        raise ModelFailed(
            f"The process that turns speech into text did not start: {error.strerror}."
        ) from error


async def _exchange(
    process: asyncio.subprocess.Process, header: Mapping[str, object], sound: bytes
) -> bytes:
    """Return the line of an answer; none of a process that ended by itself. Raises ModelFailed where it failed."""
    assert process.stdin
    assert process.stdout
    with suppress(ConnectionError):  # it has ended: the answer below says so
        process.stdin.write(json.dumps(header).encode() + b"\n" + sound)
        await process.stdin.drain()
    line = await process.stdout.readline()
    if line.endswith(b"\n"):
        return line
    code = await process.wait()
    if code:
        raise ModelFailed(ENDED.format(code=code), reason="other")
    return b""


def _parse_answer(line: bytes) -> _Answer:
    try:
        return _Answer.model_validate_json(line)
    except ValidationError as error:
        raise ModelFailed(
            "The process that turns speech into text gave an answer that cannot be read."
        ) from error


def split_into_utterances(words: Sequence[HeardWord]) -> Iterator[Utterance]:
    """Yield what is said without a pause, sentence by sentence."""
    begin = 0
    for at, (word, following) in enumerate(pairwise(words), 1):
        is_sentence = word.text.rstrip().endswith(_SENTENCE_ENDS)
        if is_sentence or following.start - word.end >= PAUSE_S:
            yield _join(words[begin:at])
            begin = at
    if words[begin:]:
        yield _join(words[begin:])


def _join(words: Sequence[HeardWord]) -> Utterance:
    text = "".join(word.text for word in words).strip()
    return Utterance(text=text, start=words[0].start, end=words[-1].end)
