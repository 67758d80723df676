"""Windows of voice in tones and silence: where they begin, end and are cut."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.voice_windows import MAX_WINDOW_S, VoiceWindows
from shared.domain.conversations.speech import SAMPLE_RATE, Window
from tests.fixtures.sounds import build_tone

HEADER = 44


def build_samples(seconds: float, *quiet: tuple[float, float]) -> bytes:
    return build_tone(seconds, quiet=quiet)[HEADER:]


def cut(samples: bytes, sizes: Sequence[int] = (640,)) -> list[Window]:
    """Hand samples on in pieces of these sizes, again and again; then flush."""
    windows, at, found = VoiceWindows(), 0, list[Window]()
    while at < len(samples):
        for size in sizes:
            found += windows.add(samples[at : at + size])
            at += size
    return [*found, *windows.flush()]


def test_a_pause_ends_a_window_and_silence_is_none() -> None:
    windows = cut(build_samples(10, (0, 2), (4, 6), (7, 10)))

    assert [(round(w.start, 1), round(w.end, 1)) for w in windows] == [(1.7, 4.6), (5.7, 7.6)]


def test_a_click_is_no_voice() -> None:
    assert cut(build_samples(5, (0, 2), (2.05, 5))) == []


def test_who_speaks_on_is_cut_at_the_quietest_place() -> None:
    windows = cut(build_samples(20, (10.5, 10.56)))

    assert [round(w.start, 1) for w in windows] == [0.0, 10.5]
    assert all(w.end - w.start <= MAX_WINDOW_S for w in windows)
    assert windows[-1].end == 20


def test_a_room_that_hums_becomes_silence() -> None:
    hum = bytes(
        sample
        for at in range(60 * SAMPLE_RATE)
        for sample in (400 if at // 10 % 2 else 0).to_bytes(2, "little")
    )

    windows = cut(hum)

    assert windows[-1].end < 40


def test_a_day_of_silence_is_no_window() -> None:
    windows = VoiceWindows()
    hour = bytes(2 * SAMPLE_RATE * 60)

    assert [window for _ in range(3) for window in windows.add(hour)] == []
    assert windows.quiet_until == pytest.approx(180, abs=0.1)


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=5))
def test_the_same_sound_gives_the_same_windows_however_it_is_cut(sizes: list[int]) -> None:
    samples = build_samples(4, (1, 2), (3, 4))

    assert cut(samples, sizes) == cut(samples)
