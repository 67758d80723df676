"""Frames of a recording device, as samples: Opus or plain samples, without any container.

A file of frames has each behind its length, 32 bits little-endian. FFmpeg's libraries decode.

Also called: Opus packets, raw audio.
"""

import struct
from collections.abc import Iterator
from typing import Any, Literal, get_args

from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.errors import Invalid
from shared.library.sound import build_resampler, to_samples

FrameCodec = Literal["opus", "opus_fs320", "pcm8", "pcm16"]
"""By the names of the Omi app: Opus in frames of 10 or 20 ms, whole numbers of 8 (unsigned) or 16 bits."""
FRAME_CODECS: tuple[FrameCodec, ...] = get_args(FrameCodec)
MAX_FRAME_BYTES = 65_536
MAX_OPUS_FRAME_BYTES = 7_660
"""Six frames of 1,275 bytes in one packet, with its header."""
_OPUS_RATE = 48_000
_OPUS_HEADER = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 0, _OPUS_RATE, 0, 0)
"""Version 1, mono, nothing skipped, no gain (RFC 7845)."""
_FFMPEG_NAMES = {"pcm8": "pcm_u8", "pcm16": "pcm_s16le"}
_LENGTH = struct.Struct("<I")


class FrameDecoder:
    """The frames of one recording, in order, as 16-bit samples of SAMPLE_RATE, mono.

    `sample_rate` is that of plain samples; Opus tells its own.
    """

    def __init__(self, codec: FrameCodec, sample_rate: int = SAMPLE_RATE) -> None:
        self._decoder = _build_decoder(codec, sample_rate)
        self._resampler = build_resampler()
        self._has_sound = False

    def decode(self, frame: bytes) -> bytes:
        """Return samples, perhaps a few of the frame before; none of a damaged frame."""
        import av

        try:
            sounds = self._decoder.decode(av.Packet(frame)) if frame else ()
        except (av.error.InvalidDataError, ValueError):
            return b""
        samples = b"".join(part for sound in sounds for part in to_samples(self._resampler, sound))
        self._has_sound = self._has_sound or bool(samples)
        return samples

    def finish(self) -> bytes:
        """Return the samples that are left when the last frame has come."""
        return b"".join(to_samples(self._resampler, None)) if self._has_sound else b""


def _build_decoder(codec: FrameCodec, sample_rate: int) -> Any:
    import av

    if codec not in _FFMPEG_NAMES:
        opus = av.CodecContext.create("opus", "r")
        opus.extradata = _OPUS_HEADER
        return opus
    plain: Any = av.CodecContext.create(_FFMPEG_NAMES[codec], "r")
    plain.sample_rate, plain.layout = sample_rate, "mono"
    return plain


def split_frames(content: bytes, *, max_frame_bytes: int = MAX_FRAME_BYTES) -> Iterator[bytes]:
    """Yield the frames of a file, up to one that was cut off, or a length that no frame has: a device that loses power leaves such.

    Raises Invalid where it begins so.
    """
    at = 0
    while at + _LENGTH.size <= len(content):
        (size,) = _LENGTH.unpack_from(content, at)
        if not 0 < size <= max_frame_bytes:
            if not at:
                raise Invalid(f"At byte 0 stands {size:,}, which is no length of a frame.")
            return
        at += _LENGTH.size
        if at + size <= len(content):
            yield content[at : at + size]
        at += size
