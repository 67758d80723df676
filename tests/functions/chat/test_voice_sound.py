"""Sound of a voice message: files and the device's frames become samples, or are refused (P22)."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.voice.voice_sound import MAX_VOICE_S, decode_voice
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.errors import Invalid, TooLarge
from shared.library.sound import build_wav
from tests.fixtures.sounds import CODECS, build_tone, encode, encode_for_device

SILENT_FRAME = struct.pack("<I", 3) + b"\xf8\xff\xfe"
"""20 ms."""


def measure_s(content: bytes) -> float:
    return len(decode_voice(content)) / (2 * SAMPLE_RATE)


@pytest.mark.parametrize("container", CODECS)
def test_files_of_common_formats_are_decoded_p22(container):
    assert abs(measure_s(encode(build_tone(3), container)) - 3) < 0.1


def test_a_wav_is_decoded_as_it_is_p22():
    assert decode_voice(build_tone(2)) == build_tone(2)[44:]


def test_the_frames_of_a_device_are_decoded_p22():
    samples = decode_voice(encode_for_device(build_tone(2)))

    loudest = max(abs(sample) for (sample,) in struct.iter_unpack("<h", samples))
    assert abs(len(samples) / (2 * SAMPLE_RATE) - 2) < 0.05
    assert 4_000 < loudest < 16_000


def test_of_frames_whose_last_was_cut_the_others_are_decoded_p22():
    content = SILENT_FRAME * 50

    assert measure_s(content[:-2]) == pytest.approx(0.98, abs=0.001)
    assert measure_s(content + b"\x03") == pytest.approx(1, abs=0.001)


def test_a_damaged_frame_is_passed_over_p22():
    damaged = struct.pack("<I", 10) + b"\xff" * 10

    assert measure_s(SILENT_FRAME * 25 + damaged + SILENT_FRAME * 25) == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize(
    "content",
    [
        build_wav(bytes(2 * SAMPLE_RATE * (MAX_VOICE_S + 1))),
        SILENT_FRAME * 50 * (MAX_VOICE_S + 1),
        (struct.pack("<I", 1) + b"\xff") * 130_000,
    ],
    ids=["WAV", "frames", "very many frames"],
)
def test_more_than_five_minutes_are_refused_p22(content):
    with pytest.raises(TooLarge, match="at most 5 minutes"):
        decode_voice(content)


@pytest.mark.parametrize("content", [b"", b"\x03\x00", b"hello world", build_wav(b"")])
def test_what_holds_no_sound_is_refused_p22(content):
    with pytest.raises(Invalid, match="cannot be read as sound"):
        decode_voice(content)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=8), st.binary(max_size=8))
def test_any_frames_are_decoded_or_refused_p22(frames, tail):
    content = b"".join(struct.pack("<I", len(frame)) + frame for frame in frames) + tail
    try:
        samples = decode_voice(content)
    except Invalid:
        return
    assert len(samples) % 2 == 0
