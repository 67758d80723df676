"""Sound of any common format, decoded piece by piece as mono WAV, cut where it is quiet.

FFmpeg's libraries decode. A file may try to lead them to other files or addresses, as playlists do, so
only formats are opened that hold their sound themselves.

Also called: audio decoding, silence detection.
"""

import io
import struct
from array import array
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO

from shared.domain.conversations.recording import MAX_DURATION
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.errors import Invalid, TooLarge
from shared.domain.value import value

if TYPE_CHECKING:
    from av import AudioResampler
    from av.container import InputContainer

PIECE_S = 300
"""What a transcriber without a graphics card manages within a request; as WAV it has 10 MB."""
CUT_WINDOW_S = 30
"""The last seconds of a piece, in which the quietest place is looked for."""
MAX_FRAME_S = 60
"""Of what is decoded at once: a frame may hold the whole file, at a rate of 1 Hz."""
WAV_HEADER_BYTES = 44
_FRAME_S = 0.2
_BYTES_PER_S = 2 * SAMPLE_RATE
_FORMATS = "aac,aiff,amr,asf,avi,caf,flac,matroska,mov,mp3,ogg,wav,w64"
NO_SOUND = (
    "This file cannot be read as sound. Send MP3, M4A, WAV, FLAC, OGG, WebM or a film with sound."
)


@value
class SoundFacts:
    """What a file says of itself; None where it says nothing."""

    duration_s: float | None
    recorded_at: datetime | None


@value
class Piece:
    """A stretch of sound that begins at `start` seconds: 16-bit samples of SAMPLE_RATE, mono."""

    number: int
    start: float
    samples: bytes

    @property
    def end(self) -> float:
        return self.start + len(self.samples) / _BYTES_PER_S

    def cut(self, start: float, end: float) -> bytes:
        """Return the WAV of a stretch, in seconds of the whole sound."""
        first, last = (2 * round((t - self.start) * SAMPLE_RATE) for t in (start, end))
        return build_wav(self.samples[max(first, 0) : max(last, 0)])


class Sound:
    """A sound file that is open for reading; blocks, so it belongs into a thread."""

    def __init__(self, file: BinaryIO) -> None:
        """Raises Invalid for a file that holds no sound that can be read."""
        self._container = _open(file)
        if not self._container.streams.audio:
            raise Invalid(NO_SOUND)
        self.facts = _read_facts(self._container)

    def iterate_pieces(self) -> Iterator[Piece]:
        """Yield the sound in order. Raises Invalid, and TooLarge beyond MAX_DURATION."""
        pending = bytearray()
        number, start = 0, 0.0
        for samples in self._iterate_samples():
            pending += samples
            if start + len(pending) / _BYTES_PER_S > MAX_DURATION.total_seconds():
                hours = MAX_DURATION.total_seconds() / 3600
                raise TooLarge(f"A recording has at most {hours:.0f} hours: split it.")
            while len(pending) > PIECE_S * _BYTES_PER_S:
                end = _find_cut(pending)
                piece = Piece(number=number, start=start, samples=bytes(pending[:end]))
                yield piece
                del pending[:end]
                number, start = number + 1, piece.end
        if pending:
            yield Piece(number=number, start=start, samples=bytes(pending))

    def _iterate_samples(self) -> Iterator[bytes]:
        """Decode the first track of sound, and pass over what is damaged."""
        import av

        resampler = build_resampler()
        is_decoded = False
        try:
            for packet in self._container.demux(self._container.streams.audio[0]):
                for frame in _decode(packet):
                    _check_length(frame)
                    is_decoded = True
                    yield from to_samples(resampler, frame)
        except av.error.FFmpegError as error:
            if not is_decoded:
                raise Invalid(NO_SOUND) from error
        if is_decoded:
            yield from to_samples(resampler, None)


def _open(file: BinaryIO) -> "InputContainer":
    import av

    options = {"format_whitelist": _FORMATS, "protocol_whitelist": "none"}
    try:
        return av.open(file, mode="r", options=options)
    except (av.error.FFmpegError, ValueError) as error:
        raise Invalid(NO_SOUND) from error


def _decode(packet: Any) -> list[Any]:
    from av.error import InvalidDataError

    try:
        return list(packet.decode())
    except InvalidDataError:
        return []


def _check_length(frame: Any) -> None:
    """Raises Invalid for a frame that would fill the memory once its rate is converted."""
    if frame.samples > MAX_FRAME_S * frame.sample_rate:
        raise Invalid(NO_SOUND)


def build_resampler() -> "AudioResampler":
    """Build what makes sound of any kind mono, of SAMPLE_RATE, 16 bits a sample."""
    import av

    return av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE)


def to_samples(resampler: "AudioResampler", frame: Any) -> Iterator[bytes]:
    """Yield samples of a frame; of None, those that are left."""
    for resampled in resampler.resample(frame):
        yield bytes(resampled.planes[0])[: 2 * resampled.samples]


def _read_facts(container: "InputContainer") -> SoundFacts:
    duration_s = container.duration / 1_000_000 if container.duration else None
    return SoundFacts(
        duration_s=duration_s,
        recorded_at=_parse_time(container.metadata.get("creation_time", "")),
    )


def _parse_time(text: str) -> datetime | None:
    """Read the time of a camera or phone; many write 1904 or 1970 where they know none."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    return time if time.year > 1990 else None


def _find_cut(samples: bytearray) -> int:
    """Return where to cut a piece, in bytes: the quietest place near its end."""
    frame_bytes = int(_FRAME_S * _BYTES_PER_S)
    last = PIECE_S * _BYTES_PER_S
    first = last - CUT_WINDOW_S * _BYTES_PER_S
    starts = range(first, last - frame_bytes + 1, frame_bytes)
    quietest = min(starts, key=lambda at: _measure_loudness(samples[at : at + frame_bytes]))
    return quietest + frame_bytes // 2 // 2 * 2


def _measure_loudness(samples: bytearray) -> int:
    """Add up how far each sample is from silence."""
    return sum(map(abs, array("h", bytes(samples))))


def build_wav(samples: bytes) -> bytes:
    """Put the header of a mono WAV before samples."""
    return build_wav_header(len(samples)) + samples


def build_wav_header(size: int) -> bytes:
    """Return what stands before `size` bytes of samples in a mono WAV."""
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + size, b"WAVE", b"fmt ", 16, 1, 1, SAMPLE_RATE, _BYTES_PER_S, 2, 16),
        *(b"data", size),
    )


class PartsFile(io.RawIOBase):
    """A file in parts that are read when they are needed, one at a time.

    `read_part` returns the content of a part by its number.
    """

    def __init__(self, sizes: list[int], read_part: Any) -> None:
        self._ends = [sum(sizes[: n + 1]) for n in range(len(sizes))]
        self._read_part = read_part
        self._position = 0
        self._loaded: tuple[int, bytes] = (-1, b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._ends[-1]}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        """Read to the end of a part at most."""
        number = next((n for n, end in enumerate(self._ends) if end > self._position), None)
        if number is None:
            return 0
        if self._loaded[0] != number:
            self._loaded = (number, self._read_part(number))
        begin = self._position - (self._ends[number - 1] if number else 0)
        content = self._loaded[1][begin : begin + len(buffer)]
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)
