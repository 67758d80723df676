"""Schedule of live decodes, counted on a clock that stands: how long after its sound each moment is shown."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.voice_windows import MAX_WINDOW_S
from shared.adapters.windowed_transcriber import GUESS_STEP_S, WindowedTranscriber
from shared.domain.conversations.speech import SAMPLE_RATE, Hearing, Transcription, Utterance
from tests.fakes import FixedClock
from tests.fixtures.devices import settle
from tests.fixtures.sounds import build_tone

STEP_S = 0.1
SECOND_BYTES = 2 * SAMPLE_RATE
DECODES_S = st.sampled_from([0.2, 0.5, 1.0, 1.5, 3.0])
"""What one decode takes, however long its sound is, as Whisper's do."""
TALKS = st.lists(
    st.tuples(st.sampled_from([0.3, 0.9, 2.0, 7.0, 15.0]), st.sampled_from([0.2, 0.7, 1.5])),
    min_size=1,
    max_size=8,
)
"""How long is spoken, and how long is paused then, in seconds."""


class ConstantTranscriber:
    """Hears a word in all of each sound, `decode_s` after it was asked."""

    name, is_ready, tells_speakers = "constant", True, False

    def __init__(self, clock: FixedClock, decode_s: float) -> None:
        self.asked_s: list[float] = []
        self._clock = clock
        self._decode_s = decode_s

    async def transcribe(self, sound: bytes, **_: Any) -> Transcription:
        seconds = (len(sound) - 44) / SECOND_BYTES
        self.asked_s.append(seconds)
        await self._clock.sleep(self._decode_s)
        return Transcription(utterances=(Utterance(text="A word.", start=0.0, end=seconds),))


def speak(talk: Sequence[tuple[float, float]]) -> tuple[bytes, list[tuple[float, float]]]:
    """Return samples, and when somebody speaks in them."""
    at, spoken, quiet = 0.0, list[tuple[float, float]](), list[tuple[float, float]]()
    for speech_s, pause_s in talk:
        spoken.append((at, at + speech_s))
        quiet.append((at + speech_s, at + speech_s + pause_s))
        at += speech_s + pause_s
    return build_tone(at, quiet=tuple(quiet))[44:], spoken


async def play(
    samples: bytes, decode_s: float
) -> tuple[list[tuple[float, Hearing]], ConstantTranscriber]:
    """Play samples as fast as they are spoken; return what was told, and after how many seconds."""
    clock = FixedClock()
    transcriber = ConstantTranscriber(clock, decode_s)
    live = WindowedTranscriber(transcriber, clock, shows_guesses=True)
    came, began_at = list[tuple[float, Hearing]](), clock.now()
    async with live.open(language="en") as hearing:
        told = asyncio.create_task(_collect(hearing, clock, began_at, came))
        step = round(STEP_S * SECOND_BYTES)
        for at in range(0, len(samples), step):
            clock.advance(seconds=STEP_S)
            await hearing.hear(samples[at : at + step])
            await settle()
        await hearing.end()
        while not told.done():
            clock.advance(seconds=STEP_S)
            await settle()
    return came, transcriber


async def _collect(
    hearing: Any, clock: FixedClock, began_at: datetime, came: list[tuple[float, Hearing]]
) -> None:
    came.extend(
        [
            ((clock.now() - began_at) / timedelta(seconds=1), heard)
            async for heard in hearing.iterate()
        ]
    )


def list_delays(
    came: Sequence[tuple[float, Hearing]], spoken: Sequence[tuple[float, float]]
) -> list[float]:
    """Return for each tenth of a second of speech how long it took until it was shown."""
    moments = [
        begin + STEP_S * n for begin, end in spoken for n in range(round((end - begin) / STEP_S))
    ]
    return [
        min(at - moment for at, heard in came if is_within(moment, heard)) for moment in moments
    ]


@settings(max_examples=15)
@given(talk=TALKS, decode_s=DECODES_S)
async def test_no_word_is_shown_later_than_a_step_and_two_decodes_l3(
    talk: list[tuple[float, float]], decode_s: float
) -> None:
    """However it is spoken: so much more must be said, or a decode end, then one may be of words before it."""
    samples, spoken = speak(talk)

    came, _ = await play(samples, decode_s)

    step_s = max(GUESS_STEP_S, decode_s)
    assert max(list_delays(came, spoken)) <= step_s + 2 * decode_s + 2 * STEP_S


async def test_windows_that_ended_meanwhile_are_heard_at_once_l3() -> None:
    """Short sentences come faster than a slow machine decodes: it would never catch up one by one."""
    samples, spoken = speak([(0.5, 0.7)] * 20)

    came, transcriber = await play(samples, decode_s=3.0)

    finals = [heard for _, heard in came if heard.is_final]
    assert len(finals) < len(spoken) / 2
    assert max(transcriber.asked_s) <= MAX_WINDOW_S
    assert all(any(is_within(moment, heard) for heard in finals) for moment, _ in spoken)


def is_within(moment: float, heard: Hearing) -> bool:
    return any(each.start <= moment + STEP_S and moment <= each.end for each in heard.utterances)
