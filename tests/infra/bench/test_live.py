"""Live bench: what it takes from a stream that is played as fast as it is spoken."""

from contextlib import aclosing
from pathlib import Path

from infra.bench.live import list_latencies, play
from shared.adapters.embedded.local_transcriber import LocalTranscriber
from shared.adapters.system_clock import SystemClock
from shared.adapters.windowed_transcriber import WindowedTranscriber
from shared.domain.conversations.speech import Hearing, Utterance
from tests.fixtures.scripted_whisper import build_scripted_whisper
from tests.fixtures.sounds import build_tone


def hear(start: float, end: float, *, is_final: bool) -> Hearing:
    return Hearing(utterances=(Utterance(text="a", start=start, end=end),), is_final=is_final)


def test_words_count_from_when_they_were_said_to_when_they_were_told_first_or_for_good() -> None:
    came = [(1.5, hear(0.0, 1.0, is_final=False)), (3.0, hear(0.0, 2.0, is_final=True))]

    shown = list_latencies(came, is_final=False)
    final = list_latencies(came, is_final=True)

    assert shown[:5] == [1.5, 1.25, 1.0, 0.75, 0.5]
    assert final == [3.0, 2.75, 2.5, 2.25, 2.0, 1.75, 1.5, 1.25]


async def test_what_a_program_hears_of_played_sound_is_told_with_its_time(tmp_path: Path) -> None:
    heard = (0.1, -0.4, 1.1, [(0.0, 1.0, " Words.")])
    command = build_scripted_whisper(tmp_path, heard)
    async with aclosing(LocalTranscriber("scripted", command)) as local:
        live = WindowedTranscriber(local, SystemClock(), shows_guesses=True)
        async with live.open() as hearing:
            came = await play(hearing, build_tone(3)[44:])

    assert came[-1][0] >= 3.0
    assert min(list_latencies(came, is_final=True)) > 0
