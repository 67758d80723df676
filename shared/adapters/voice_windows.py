"""Windows of voice: stretches of a stream in which somebody may speak, cut at pauses.

What is plainly silence is passed over, so that hours of it cost nothing; in doubt it is voice, since the
transcriber looks closer.

Also called: voice activity detection, VAD, endpointing.
"""

from array import array
from collections.abc import Iterator

from shared.domain.conversations.speech import SAMPLE_RATE, Window

FRAME_S = 0.03
PAUSE_S = 0.6
"""So long a silence ends a window."""
MAX_WINDOW_S = 12.0
"""Who speaks on is cut at the quietest place of the last CUT_S."""
CUT_S = 3.0
LEAD_S = 0.3
"""A word begins before it is loud."""
MIN_VOICE_S = 0.12
"""Less is a click."""
MIN_LOUDNESS = 100.0
"""Mean distance of samples from zero; quieter is silence in any room."""
TIMES_FLOOR = 2.0
"""Voice is so many times as loud as the quietest that was heard lately."""
_FLOOR_RISE = 1.005
"""A frame, so that the floor follows a room that grows louder within half a minute."""
_STEP = 4
"""One sample of so many tells how loud it is; all of them would take a processor four times as long."""
_FRAME_BYTES = 2 * round(FRAME_S * SAMPLE_RATE)


class VoiceWindows:
    """The windows of one stream, as its samples come."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._window = bytearray()
        self._loudness: list[float] = []
        self._position = 0
        self._floor = MIN_LOUDNESS / TIMES_FLOOR
        self._voiced = 0
        self._quiet = 0

    @property
    def quiet_until(self) -> float:
        """Until when there is no voice but in windows that were returned."""
        open_bytes = len(self._window) if self._voiced else 0
        return (self._position - open_bytes) / (2 * SAMPLE_RATE)

    @property
    def open_until(self) -> float | None:
        """Until when somebody speaks in the window that is open; None where nobody does."""
        return self._position / (2 * SAMPLE_RATE) if self._is_voice() else None

    def build_open(self) -> Window:
        """Return the window that is open, as far as it is."""
        return self._build(len(self._window))

    def add(self, samples: bytes) -> Iterator[Window]:
        """Yield the windows that end in these samples."""
        self._rest += samples
        while len(self._rest) >= _FRAME_BYTES:
            frame = bytes(self._rest[:_FRAME_BYTES])
            del self._rest[:_FRAME_BYTES]
            yield from self._add_frame(frame)

    def flush(self) -> Iterator[Window]:
        """Yield what is open, because no more samples come for a while."""
        self._window += self._rest
        self._position += len(self._rest)
        self._rest.clear()
        yield from self._close(len(self._window))

    def _add_frame(self, frame: bytes) -> Iterator[Window]:
        loudness = _measure_loudness(frame)
        is_voice = loudness > max(MIN_LOUDNESS, TIMES_FLOOR * self._floor)
        self._floor = min(loudness, self._floor * _FLOOR_RISE) or 1.0
        self._window += frame
        self._position += len(frame)
        self._loudness.append(loudness)
        if is_voice:
            self._voiced, self._quiet = self._voiced + 1, 0
        elif not self._voiced:
            self._keep_lead()
        else:
            self._quiet += 1
        if self._quiet * FRAME_S >= PAUSE_S:
            yield from self._close(len(self._window))
        elif len(self._loudness) * FRAME_S >= MAX_WINDOW_S:
            yield from self._close(self._find_cut())

    def _keep_lead(self) -> None:
        lead = round(LEAD_S / FRAME_S)
        del self._window[: -lead * _FRAME_BYTES]
        del self._loudness[:-lead]

    def _find_cut(self) -> int:
        """Return where to cut while somebody speaks, in bytes."""
        first = len(self._loudness) - round(CUT_S / FRAME_S)
        quietest = min(range(first, len(self._loudness)), key=lambda at: self._loudness[at])
        return (quietest + 1) * _FRAME_BYTES

    def _is_voice(self) -> bool:
        return self._voiced * FRAME_S >= MIN_VOICE_S

    def _build(self, size: int) -> Window:
        begin = self._position - len(self._window)
        return Window(start=begin / (2 * SAMPLE_RATE), samples=bytes(self._window[:size]))

    def _close(self, size: int) -> Iterator[Window]:
        """End the window behind so many bytes; what follows them is in the next one."""
        window = self._build(size) if self._is_voice() else None
        del self._window[:size]
        del self._loudness[: size // _FRAME_BYTES]
        self._voiced = len(self._loudness)
        self._quiet = 0
        if window is not None:
            yield window


def _measure_loudness(frame: bytes) -> float:
    samples = array("h", frame)[::_STEP]
    return sum(map(abs, samples)) / len(samples)
