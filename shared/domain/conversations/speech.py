"""Speech: what a transcriber is given and what it returns."""

from shared.domain.value import value

SAMPLE_RATE = 16_000
"""Of the sound that a transcriber is given: mono, 16 bits a sample, as WAV."""


@value
class Voice:
    """A few seconds of one speaker, as WAV, by which a transcriber knows them again as `name`."""

    name: str
    clip: bytes


@value
class Window:
    """A stretch of a stream: 16-bit samples of SAMPLE_RATE, mono, from `start` in its seconds."""

    start: float
    samples: bytes

    @property
    def end(self) -> float:
        return self.start + len(self.samples) / (2 * SAMPLE_RATE)


@value
class Utterance:
    """What somebody said without a pause, from `start` to `end` in seconds.

    `speaker` is a label of one transcription, or the name of a known voice; None where the model does
    not tell speakers apart.
    """

    text: str
    start: float
    end: float
    speaker: str | None = None


@value
class Transcription:
    """What was said, in order; `language` is ISO 639-1 where the model tells."""

    utterances: tuple[Utterance, ...]
    language: str | None = None


@value
class Hearing:
    """What was heard in a stream, with times from its first sample.

    One that is not final says what is likely being said, and the next one takes its place.
    """

    utterances: tuple[Utterance, ...]
    is_final: bool = True
    language: str | None = None
