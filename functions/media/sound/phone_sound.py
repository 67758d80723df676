"""Sound of a phone's files as one file that every player reads: Ogg with the Opus frames as they are, or WAV."""

import io
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from functions.media.sound.phone_files import PhoneFile, iterate_with_pauses, measure_packet
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.value import value
from shared.library.device_frames import FrameDecoder
from shared.library.sound import WAV_HEADER_BYTES, build_wav_header

_SILENT_PACKET = b"\xf8\xff\xfe"
_SILENT_PACKET_S = 0.02
_OPUS_RATE = 48_000
_BLOCK_BYTES = 65_536


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
    for file, pause_s in iterate_with_pauses(files):
        yield from [_SILENT_PACKET] * round(pause_s / _SILENT_PACKET_S)
        yield from (frame for frame in file.frames if measure_packet(frame))


def _write_wav(files: Sequence[PhoneFile]) -> bytes:
    target = io.BytesIO(bytes(WAV_HEADER_BYTES))
    target.seek(0, io.SEEK_END)
    for file, pause_s in iterate_with_pauses(files):
        target.write(bytes(2 * round(pause_s * SAMPLE_RATE)))
        decoder = FrameDecoder(file.codec, file.sample_rate)
        for block in _join_frames(file.frames):
            target.write(decoder.decode(block))
        target.write(decoder.finish())
    size = target.tell() - WAV_HEADER_BYTES
    target.seek(0)
    target.write(build_wav_header(size))
    return target.getvalue()


def _join_frames(frames: Iterable[bytes]) -> Iterator[bytes]:
    """Yield plain samples in blocks: a frame may hold a single one."""
    block = bytearray()
    for frame in frames:
        block += frame
        if len(block) >= _BLOCK_BYTES:
            yield bytes(block)
            block.clear()
    yield bytes(block)
