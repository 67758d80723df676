"""Frames of a device become samples, one by one; what is damaged is passed over."""

import struct

import pytest

from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.errors import Invalid
from shared.library.device_frames import FrameDecoder, split_frames
from tests.fixtures.sounds import build_tone, encode_for_device, put_lengths_before

TONE = build_tone(2)[44:]


def decode(frames, codec, sample_rate=SAMPLE_RATE):
    decoder = FrameDecoder(codec, sample_rate)
    return b"".join([*map(decoder.decode, frames), decoder.finish()])


@pytest.mark.parametrize("codec", ["opus", "opus_fs320"])
def test_opus_frames_become_samples_l1(codec):
    samples = decode(split_frames(encode_for_device(build_tone(2))), codec)

    loudest = max(abs(sample) for (sample,) in struct.iter_unpack("<h", samples))
    assert abs(len(samples) - len(TONE)) < 2 * SAMPLE_RATE * 0.05
    assert 4_000 < loudest < 16_000


def test_plain_samples_of_16_bits_stay_as_they_are_l1():
    frames = [TONE[at : at + 640] for at in range(0, len(TONE), 640)]

    assert decode(split_frames(put_lengths_before(frames)), "pcm16") == TONE


def test_plain_samples_of_8_bits_at_8_khz_become_twice_as_many_l1():
    frames = [bytes([128, 192] * 80)] * 100

    samples = decode(frames, "pcm8", 8_000)

    assert len(samples) == pytest.approx(2 * 2 * 160 * 100, rel=0.01)


@pytest.mark.parametrize("codec", ["opus", "pcm16"])
def test_a_damaged_frame_yields_nothing_and_the_next_is_decoded_l1(codec):
    decoder = FrameDecoder(codec)

    damaged = [
        decoder.decode(frame) for frame in (b"", b"\xff" * 10 if codec == "opus" else b"\x01")
    ]

    assert damaged == [b"", b""]
    assert decoder.finish() == b""
    assert decode([b"\xf8\xff\xfe"] * 50, "opus")


def test_a_last_frame_that_was_cut_is_left_out_l1():
    content = put_lengths_before([b"one", b"two"])

    assert [*split_frames(content[:-1])] == [b"one"]
    assert [*split_frames(content + b"\x03")] == [b"one", b"two"]


@pytest.mark.parametrize("length", [0, 65_537, 2**32 - 1])
def test_a_length_that_no_frame_has_ends_a_file_and_is_refused_where_it_begins_l1(length):
    garbage = struct.pack("<I", length) + b"x"

    assert [*split_frames(put_lengths_before([b"one"]) + garbage)] == [b"one"]
    with pytest.raises(Invalid, match=f"At byte 0 stands {length:,}"):
        list(split_frames(garbage))
