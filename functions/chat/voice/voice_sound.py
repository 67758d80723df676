"""Sound of a voice message, decoded whole: a file of any common format, or the device's Opus frames.

A device writes each frame behind its length, 32 bits little-endian, without any header.
"""

import io
import struct
from collections.abc import Iterator, Sequence

from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.errors import Invalid, TooLarge
from shared.library.sound import NO_SOUND, PIECE_S, Sound, build_resampler, to_samples

MAX_VOICE_S = PIECE_S
_MAX_FRAME_BYTES = 7_660
"""Six Opus frames of 1,275 bytes in one packet, with its header."""
_MAX_FRAMES = MAX_VOICE_S * 400
"""The shortest Opus frame lasts 2.5 ms."""
_OPUS_RATE = 48_000
_OPUS_HEADER = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 0, _OPUS_RATE, 0, 0)
"""Version 1, mono, nothing skipped, no gain (RFC 7845)."""
_LENGTH = struct.Struct("<I")
TOO_LONG = f"A voice message has at most {MAX_VOICE_S // 60} minutes: send it in parts."


def decode_voice(content: bytes) -> bytes:
    """Return 16-bit samples of SAMPLE_RATE, mono; blocks. Raises Invalid and TooLarge."""
    frames = _split_frames(content)
    samples = _decode_frames(frames) if frames else _decode_file(content)
    if not samples:
        raise Invalid(NO_SOUND)
    return samples


def _decode_file(content: bytes) -> bytes:
    pieces = Sound(io.BytesIO(content)).iterate_pieces()
    piece = next(pieces, None)
    if next(pieces, None) is not None:
        raise TooLarge(TOO_LONG)
    return piece.samples if piece else b""


def _split_frames(content: bytes) -> Sequence[bytes]:
    """Return the frames of a device's file, without a last one that was cut; none of other files."""
    frames = []
    at = 0
    while at + _LENGTH.size <= len(content):
        (size,) = _LENGTH.unpack_from(content, at)
        if not 0 < size <= _MAX_FRAME_BYTES:
            return ()
        at += _LENGTH.size
        if at + size <= len(content):
            frames.append(content[at : at + size])
        at += size
    return frames


def _decode_frames(frames: Sequence[bytes]) -> bytes:
    if len(frames) > _MAX_FRAMES:
        raise TooLarge(TOO_LONG)
    samples = bytearray()
    for piece in _iterate_samples(frames):
        samples += piece
        if len(samples) > MAX_VOICE_S * 2 * SAMPLE_RATE:
            raise TooLarge(TOO_LONG)
    return bytes(samples)


def _iterate_samples(frames: Sequence[bytes]) -> Iterator[bytes]:
    """Decode frames in order, and pass over what is damaged."""
    import av

    codec = av.CodecContext.create("opus", "r")
    codec.extradata = _OPUS_HEADER
    resampler = build_resampler()
    is_decoded = False
    for frame in frames:
        try:
            decoded = codec.decode(av.Packet(frame))
        except av.error.InvalidDataError:
            continue
        for sound in decoded:
            is_decoded = True
            yield from to_samples(resampler, sound)
    if is_decoded:
        yield from to_samples(resampler, None)
