"""Files of a phone: frames under a name that tells when, how and by what they were recorded; pure.

The Omi app names them `audio_{device}_{codec}_{rate}_{channels}_fs{frame}_{time}.bin`, with the time in seconds
or milliseconds since 1970; older ones tell the time alone and are Opus.

Also called: write-ahead log of a wearable, WAL.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256

from shared.domain.amounts import describe_seconds
from shared.domain.conversations.recording import MAX_DURATION, MAX_PAUSE
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.errors import Invalid
from shared.domain.files.upload import MAX_UPLOAD_BYTES
from shared.domain.value import value
from shared.library.device_frames import (
    FRAME_CODECS,
    MAX_FRAME_BYTES,
    MAX_OPUS_FRAME_BYTES,
    FrameCodec,
    split_frames,
)
from shared.library.sound import WAV_HEADER_BYTES
from shared.library.validate_conversation import MAX_AHEAD

MIN_SAMPLE_RATE, MAX_SAMPLE_RATE = 4_000, 96_000
EARLIEST = datetime(2015, 1, 1, tzinfo=UTC)
"""A device whose clock was never set counts from 1970."""
MIN_EQUAL_SHARE = 0.9
"""A device's encoder is set to one length of frames; other bytes, read as Opus, have many."""
_TIME = re.compile(r"_(\d{1,14})\.bin")
_KIND = re.compile(
    r"audio_([A-Za-z0-9]+)_([a-z0-9]+(?:_fs\d+)?)_(\d{1,6})_(\d)(?:_fs\d+)?_\d+\.bin"
)
MIN_FILLED_S = 2.0
"""Names tell whole seconds, so a shorter pause between two files may be none."""
_MAX_OPUS_S = MAX_DURATION.total_seconds()
_MAX_PLAIN_S = (MAX_UPLOAD_BYTES - WAV_HEADER_BYTES) / (2 * SAMPLE_RATE)
"""Plain samples are stored as WAV, its pauses too."""
_DAMAGED = timedelta(0)
_OPUS_FRAME_MS = (*(10, 20, 40, 60) * 3, *(10, 20) * 2, *(2.5, 5, 10, 20) * 4)
"""By the configuration in a packet's first byte (RFC 6716, 3.1)."""
_MAX_OPUS_PACKET = timedelta(milliseconds=120)
NO_TIME = "Its name tells no time, as audio_omi_opus_16000_1_fs160_1772438400.bin does."
EMPTY = "It holds no frame."


@value
class PhoneFile:
    """A file of a phone; `id` is that of its time and content, `seconds` is how long its sound lasts."""

    id: str
    name: str
    device: str
    codec: FrameCodec
    sample_rate: int
    started_at: datetime
    content: bytes
    seconds: float

    @property
    def frames(self) -> Iterator[bytes]:
        """Yield them in order: all at once take up several times their bytes."""
        return split_frames(self.content)

    @property
    def finished_at(self) -> datetime:
        return self.started_at + timedelta(seconds=self.seconds)

    @property
    def kind(self) -> tuple[str, bool, int]:
        """What files of one recording have in common."""
        return self.device, self.codec.startswith("opus"), self.sample_rate

    @property
    def max_s(self) -> float:
        """How long a recording of such files may last."""
        return _MAX_OPUS_S if self.codec.startswith("opus") else _MAX_PLAIN_S

    @property
    def source(self) -> str:
        """The recorder, as conversations name it."""
        if "limitless" in self.device:
            return "limitless"
        return "phone" if self.device == "phone" else "omi"


def read_phone_file(name: str, content: bytes, now: datetime) -> PhoneFile:
    """Read a file. Raises Invalid, with the reason for people."""
    started_at = _read_time(name, now)
    device, codec, sample_rate = _read_kind(name)
    is_opus = codec.startswith("opus")
    max_frame_bytes = MAX_OPUS_FRAME_BYTES if is_opus else MAX_FRAME_BYTES
    frames = split_frames(content, max_frame_bytes=max_frame_bytes)
    seconds = _measure_opus(frames) if is_opus else _measure_samples(frames, codec, sample_rate)
    file = PhoneFile(
        id=sha256(f"{started_at.isoformat()} {device} ".encode() + content).hexdigest()[:32],
        name=name,
        device=device,
        codec=codec,
        sample_rate=sample_rate,
        started_at=started_at,
        content=content,
        seconds=seconds,
    )
    if seconds > file.max_s:
        raise Invalid(f"A recording lasts at most {describe_seconds(file.max_s)}: split it.")
    return file


def _read_time(name: str, now: datetime) -> datetime:
    match = _TIME.search(name)
    if match is None:
        raise Invalid(NO_TIME)
    number = int(match[1])
    time = datetime.fromtimestamp(number / 1_000 if number > 10**10 else number, UTC)
    if time > now + MAX_AHEAD:
        raise Invalid(
            f"Its name tells {time:%Y-%m-%d %H:%M} UTC, which is to come: its clock is wrong."
        )
    if time < EARLIEST:
        raise Invalid(f"Its name tells {time:%Y-%m-%d %H:%M} UTC: the clock was not set.")
    return time


def _read_kind(name: str) -> tuple[str, FrameCodec, int]:
    """Return device, codec and sample rate."""
    match = _KIND.fullmatch(name)
    if match is None:
        return "", "opus", SAMPLE_RATE
    device, codec_name, sample_rate, channels = match.groups()
    codec = next((codec for codec in FRAME_CODECS if codec == codec_name), None)
    if codec is None:
        raise Invalid(f"Its codec {codec_name} is not known: send {', '.join(FRAME_CODECS)}.")
    if channels != "1":
        raise Invalid(f"It has {channels} channels: send one.")
    if not MIN_SAMPLE_RATE <= int(sample_rate) <= MAX_SAMPLE_RATE:
        raise Invalid(f"Its sample rate is {sample_rate} Hz: send 16000.")
    return device.lower(), codec, int(sample_rate)


def _measure_opus(frames: Iterable[bytes]) -> float:
    """Return the seconds that Opus packets last. Raises Invalid where they are none."""
    lengths = Counter(map(measure_packet, frames))
    if not lengths:
        raise Invalid(EMPTY)
    length, count = lengths.most_common(1)[0]
    if length == _DAMAGED or count < MIN_EQUAL_SHARE * lengths.total():
        raise Invalid("Its frames are not Opus, which its name promises.")
    return sum(length.total_seconds() * count for length, count in lengths.items())


def measure_packet(packet: bytes) -> timedelta:
    """Return how long an Opus packet lasts; 0 for one that is damaged."""
    return _measure_head(packet[:2])


@cache
def _measure_head(head: bytes) -> timedelta:
    code = head[0] & 3
    if code == 3 and len(head) < 2:
        return _DAMAGED
    count = head[1] & 63 if code == 3 else min(code, 1) + 1
    length = timedelta(milliseconds=count * _OPUS_FRAME_MS[head[0] >> 3])
    return length if length <= _MAX_OPUS_PACKET else _DAMAGED


def _measure_samples(frames: Iterable[bytes], codec: FrameCodec, sample_rate: int) -> float:
    """Return the seconds that plain samples last. Raises Invalid for halves of samples."""
    sample_bytes = 2 if codec == "pcm16" else 1
    total = 0
    for frame in frames:
        if len(frame) % sample_bytes:
            raise Invalid("Its frames are not whole numbers of 16 bits, which its name promises.")
        total += len(frame)
    if not total:
        raise Invalid(EMPTY)
    return total / sample_bytes / sample_rate


def group_by_recording(files: Sequence[PhoneFile]) -> list[list[PhoneFile]]:
    """Return the files of each recording in the order of time, whatever the order they came in.

    One goes on while the same recorder pauses for less than MAX_PAUSE; a file that came twice counts once.
    """
    unique = {file.id: file for file in files}.values()
    groups: list[list[PhoneFile]] = []
    for file in sorted(unique, key=lambda each: (each.kind, each.started_at, each.id)):
        last = groups[-1] if groups else []
        if last and _goes_on(last, file):
            last.append(file)
        else:
            groups.append([file])
    return sorted(groups, key=lambda group: group[0].started_at)


def _goes_on(group: Sequence[PhoneFile], file: PhoneFile) -> bool:
    """Tell whether a file continues the recording of a group, which is no longer than one may be."""
    end = max(each.finished_at for each in group)
    is_near = group[0].kind == file.kind and file.started_at < end + MAX_PAUSE
    return is_near and measure_recording([*group, file]) <= file.max_s


def measure_recording(files: Sequence[PhoneFile]) -> float:
    """Return the seconds that the joined sound of a recording's files lasts, with its pauses."""
    return sum(pause_s + file.seconds for file, pause_s in iterate_with_pauses(files))


def iterate_with_pauses(files: Sequence[PhoneFile]) -> Iterator[tuple[PhoneFile, float]]:
    """Yield each file with the seconds of silence before it."""
    end = files[0].started_at
    for file in files:
        pause_s = (file.started_at - end).total_seconds()
        filled_s = pause_s if pause_s >= MIN_FILLED_S else 0.0
        yield file, filled_s
        end += timedelta(seconds=filled_s + file.seconds)
