"""Sound of a voice message, decoded whole: a file of any common format, or the device's Opus frames."""

import io
from collections.abc import Sequence

from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.errors import Invalid, TooLarge
from shared.library.device_frames import MAX_OPUS_FRAME_BYTES, FrameDecoder, split_frames
from shared.library.sound import NO_SOUND, PIECE_S, Sound

MAX_VOICE_S = PIECE_S
_MAX_FRAMES = MAX_VOICE_S * 400
"""The shortest Opus frame lasts 2.5 ms."""
TOO_LONG = f"A voice message has at most {MAX_VOICE_S // 60} minutes: send it in parts."


def decode_voice(content: bytes) -> bytes:
    """Return 16-bit samples of SAMPLE_RATE, mono; blocks. Raises Invalid and TooLarge."""
    frames = _find_frames(content)
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


def _find_frames(content: bytes) -> Sequence[bytes]:
    """Return the frames of a device's file; none of other files."""
    try:
        return [*split_frames(content, max_frame_bytes=MAX_OPUS_FRAME_BYTES)]
    except Invalid:
        return ()


def _decode_frames(frames: Sequence[bytes]) -> bytes:
    if len(frames) > _MAX_FRAMES:
        raise TooLarge(TOO_LONG)
    decoder = FrameDecoder("opus")
    samples = bytearray()
    for frame in frames:
        samples += decoder.decode(frame)
        if len(samples) > MAX_VOICE_S * 2 * SAMPLE_RATE:
            raise TooLarge(TOO_LONG)
    return bytes(samples + decoder.finish())
