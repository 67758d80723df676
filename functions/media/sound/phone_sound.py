"""Sound of a phone's files as one file that every player reads: Ogg with the Opus frames as they are, or WAV."""

import io
from collections.abc import Iterator, Sequence
from datetime import timedelta
from fractions import Fraction

from functions.media.sound.phone_files import PhoneFile, measure_packet
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.value import value
from shared.library.device_frames import FrameDecoder
from shared.library.sound import build_wav

MIN_FILLED_S = 2.0
"""Names tell whole seconds, so a shorter pause between two files may be none."""
_SILENT_PACKET = b"\xf8\xff\xfe"
_SILENT_PACKET_S = 0.02
_OPUS_RATE = 48_000


@value
class EncodedSound:
    """A file of sound, with its media type and the end of its name."""

    content: bytes
    media_type: str
    suffix: str


def join_files(files: Sequence[PhoneFile]) -> EncodedSound:
    """Return the sound of a recording's files, which are in order; pauses between them are silent. Blocks."""
    if files[0].codec.startswith("opus"):
        return EncodedSound(content=_write_ogg(files), media_type="audio/ogg", suffix="ogg")
    return EncodedSound(content=_write_wav(files), media_type="audio/x-wav", suffix="wav")


def _write_ogg(files: Sequence[PhoneFile]) -> bytes:
    import av

    target = io.BytesIO()
    with av.open(target, "w", format="ogg") as output:
        stream = output.add_stream("libopus", rate=_OPUS_RATE, layout="mono")
        stream.codec_context.open()  # writes the header; no frame is encoded
        at = 0
        for frame in _iterate_packets(files):
            packet = av.Packet(frame)
            packet.stream, packet.time_base = stream, Fraction(1, _OPUS_RATE)
            packet.pts = packet.dts = at
            packet.duration = round(measure_packet(frame).total_seconds() * _OPUS_RATE)
            at += packet.duration
            output.mux_one(packet)
    return target.getvalue()


def _iterate_packets(files: Sequence[PhoneFile]) -> Iterator[bytes]:
    """Yield the packets with silence in the pauses, without damaged ones."""
    for file, pause_s in _iterate_with_pauses(files):
        yield from [_SILENT_PACKET] * round(pause_s / _SILENT_PACKET_S)
        yield from (frame for frame in file.frames if measure_packet(frame))


def _write_wav(files: Sequence[PhoneFile]) -> bytes:
    samples = bytearray()
    for file, pause_s in _iterate_with_pauses(files):
        samples += bytes(2 * round(pause_s * SAMPLE_RATE))
        decoder = FrameDecoder(file.codec, file.sample_rate)
        for frame in file.frames:
            samples += decoder.decode(frame)
        samples += decoder.finish()
    return build_wav(bytes(samples))


def _iterate_with_pauses(files: Sequence[PhoneFile]) -> Iterator[tuple[PhoneFile, float]]:
    """Yield each file with the seconds of silence before it."""
    end = files[0].started_at
    for file in files:
        pause_s = (file.started_at - end).total_seconds()
        filled_s = pause_s if pause_s >= MIN_FILLED_S else 0.0
        yield file, filled_s
        end += timedelta(seconds=filled_s + file.seconds)
