"""Files of a phone by their names and frames: what they are, and why some are not taken (L1)."""

import struct
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.media.sound.phone_files import (
    group_by_recording,
    measure_packet,
    measure_recording,
    read_phone_file,
)
from functions.media.sound.phone_sound import join_files
from shared.domain.errors import Invalid
from shared.library.sound import Sound, build_wav
from tests.fixtures.sounds import build_tone, encode_for_device, put_lengths_before

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
START = 1_772_438_400  # 08:00
OPUS = encode_for_device(build_tone(2))
SILENT_PACKET = b"\xf8\xff\xfe"


def read(name, content=OPUS):
    return read_phone_file(name, content, NOW)


def opus(time, *, device="omi"):
    name = f"audio_{device}_opus_fs320_16000_1_fs320_{time}.bin"
    return read(name, put_lengths_before([SILENT_PACKET] * 50))


@pytest.mark.parametrize(
    ("name", "device", "codec", "rate", "source"),
    [
        ("audio_e0b1_opus_16000_1_fs160_1772438400.bin", "e0b1", "opus", 16_000, "omi"),
        (
            "audio_phone_opus_fs320_16000_1_fs320_1772438400000.bin",
            "phone",
            "opus_fs320",
            16_000,
            "phone",
        ),
        (
            "audio_limitless_opus_16000_1_fs320_1772438400.bin",
            "limitless",
            "opus",
            16_000,
            "limitless",
        ),
        ("audio_phone_pcm8_8000_1_fs160_1772438400.bin", "phone", "pcm8", 8_000, "phone"),
        ("audio_fs160_1772438400.bin", "", "opus", 16_000, "omi"),
        ("recording_1772438400.bin", "", "opus", 16_000, "omi"),
    ],
)
def test_a_name_tells_time_recorder_and_codec_l1(name, device, codec, rate, source):
    file = read(name)

    assert (file.device, file.codec, file.sample_rate, file.source) == (device, codec, rate, source)
    assert file.started_at == datetime(2026, 3, 2, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "content", "seconds"),
    [
        ("audio_omi_opus_16000_1_fs160_1772438400.bin", OPUS, 2),
        (
            "audio_phone_pcm16_16000_1_fs160_1772438400.bin",
            put_lengths_before([bytes(320)] * 100),
            1,
        ),
        ("audio_phone_pcm8_8000_1_fs160_1772438400.bin", put_lengths_before([bytes(80)] * 100), 1),
        ("audio_omi_opus_16000_1_fs160_1772438400.bin", OPUS + bytes(4_096), 2),
        ("audio_omi_opus_16000_1_fs160_1772438400.bin", OPUS + b"\xff" * 40, 2),
        ("audio_omi_opus_16000_1_fs160_1772438400.bin", OPUS + b"\x90\0\0\0cut off", 2),
    ],
)
def test_frames_tell_how_long_the_sound_lasts_l1(name, content, seconds):
    assert read(name, content).seconds == pytest.approx(seconds, abs=0.001)


@pytest.mark.parametrize(
    ("first", "ms"),
    [(b"\x00", 10), (b"\x18", 60), (b"\x60", 10), (b"\x81", 5), (b"\xf8", 20), (b"\xfb\x03", 60)],
)
def test_a_packet_tells_how_long_it_lasts(first, ms):
    assert measure_packet(first + b"..") == timedelta(milliseconds=ms)


@pytest.mark.parametrize("packet", [b"\xfb", b"\xfb\x3f", b"\x1b\x00"])
def test_a_packet_that_no_encoder_writes_lasts_nothing(packet):
    assert measure_packet(packet) == timedelta(0)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("audio_omi_opus_16000_1_fs160.bin", OPUS, "Its name tells no time"),
        (
            f"x_{START + 90_001}.bin",
            OPUS,
            "2026-03-03 09:00 UTC, which is to come: its clock is wrong",
        ),
        ("x_100000000.bin", OPUS, "Its name tells 1973-03-03 09:46 UTC: the clock was not set"),
        ("x_0.bin", OPUS, "Its name tells 1970-01-01 00:00 UTC: the clock was not set"),
        (
            f"audio_omi_lc3_16000_1_fs160_{START}.bin",
            OPUS,
            "Its codec lc3 is not known: send opus, ",
        ),
        (f"audio_omi_opus_16000_2_fs160_{START}.bin", OPUS, "It has 2 channels: send one."),
        (f"audio_omi_pcm16_16_1_fs160_{START}.bin", OPUS, "Its sample rate is 16 Hz"),
        (f"x_{START}.bin", b"", "It holds no frame"),
        (f"x_{START}.bin", struct.pack("<I", 900) + b"x", "It holds no frame"),
        (f"x_{START}.bin", b"\xff" * 40, "At byte 0 stands 4,294,967,295"),
        (
            f"x_{START}.bin",
            put_lengths_before([build_tone(1)[n : n + 320] for n in range(44, 32_000, 320)]),
            "Its frames are not Opus",
        ),
        (
            f"audio_omi_pcm16_16000_1_fs160_{START}.bin",
            put_lengths_before([b"odd"]),
            "Its frames are not whole numbers",
        ),
        (
            f"x_{START}.bin",
            put_lengths_before([b"\x1b\x02"] * 180_001),
            "A recording lasts at most 6 h: split it.",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason_l1(name, content, reason):
    with pytest.raises(Invalid, match=reason):
        read(name, content)


def test_files_in_any_order_are_grouped_by_recorder_and_pause_l1():
    late, second, first, other = (
        opus(START + 300),
        opus(START + 60),
        opus(START),
        opus(START, device="phone"),
    )

    groups = group_by_recording([late, second, other, first, first])

    assert groups == [[first, second], [other], [late]]


def test_a_recording_is_no_longer_than_six_hours_l1():
    files = [opus(START - 30_000 + n * 100) for n in range(250)]

    assert [len(group) for group in group_by_recording(files)] == [216, 34]


def test_a_recording_of_plain_samples_ends_before_its_pauses_outgrow_a_file_l1():
    samples = put_lengths_before([b"\0\0"])
    names = [f"audio_omi_pcm16_16000_1_fs160_{START - 30_000 + n * 119}.bin" for n in range(181)]

    groups = group_by_recording([read(name, samples) for name in names])

    assert [len(group) for group in groups] == [56, 56, 56, 13]
    assert measure_recording(groups[0]) == pytest.approx(55 * 119, abs=0.01)


def test_plain_samples_in_the_smallest_frames_are_joined_as_they_are_l1():
    samples = build_tone(1)[44:]
    content = put_lengths_before([samples[n : n + 2] for n in range(0, len(samples), 2)])
    file = read(f"audio_omi_pcm16_16000_1_fs160_{START}.bin", content)

    encoded = join_files([file, read(file.name.replace(str(START), str(START + 3)), content)])

    assert encoded.content == build_wav(samples + bytes(2 * 32_000) + samples)


NAMES = st.from_regex(
    r"(audio_(omi|phone)_(opus|opus_fs320|pcm8|pcm16)_(8000|16000)_1_fs160_)?\d{9,14}\.bin",
    fullmatch=True,
)


@given(
    names=st.lists(NAMES, min_size=1, max_size=4),
    frames=st.lists(st.binary(min_size=1, max_size=12), max_size=8),
    tail=st.binary(max_size=8),
)
def test_whatever_comes_is_sound_or_is_refused_l1(names, frames, tail):
    files = []
    for name in names:
        with suppress(Invalid):
            files.append(read(f"x_{name}", put_lengths_before(frames) + tail))
            files.append(read(name, put_lengths_before(frames) + tail))

    for group in group_by_recording(files):
        encoded = join_files(group)
        with suppress(Invalid):  # frames that tell their length and nothing else
            lengths = [piece.end for piece in Sound(BytesIO(encoded.content)).iterate_pieces()]
            assert all(length > 0 for length in lengths)
