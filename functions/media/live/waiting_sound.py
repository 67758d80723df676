"""Waiting sound of a stream: what was received, and whose words are not stored yet, whoever hears it.

What waits for long is stored as a recording that its stream holds by a lease. It goes once its words are stored;
where the process dies first, a task transcribes it.

Also called: write-ahead log.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from functions.media.deps import ListenDeps
from functions.media.live.late_sound import LateSound, build_recording
from shared import telemetry
from shared.domain.conversations.live_conversation import LiveConversation
from shared.domain.conversations.recording import Recording
from shared.domain.conversations.speech import SAMPLE_RATE, Window
from shared.domain.errors import NotFound, QuotaExceeded, Unavailable
from shared.domain.files.upload import BlobPart
from shared.domain.ids import UserId
from shared.domain.store.documents import Write
from shared.library.recordings import append_sound, forget_recording, schedule_transcription
from shared.library.sound import build_wav

STORED_EVERY_S = 8.0
"""So much may wait, or have come since, before it is stored: what is said in shorter windows mostly never is."""
HELD_FOR = timedelta(seconds=90)
"""Longer than any sound waits; then it is taken as left by a process that died."""
_BYTES_PER_S = 2 * SAMPLE_RATE


class WaitingSound:
    def __init__(self, deps: ListenDeps, uid: UserId, stream: str, language: str | None) -> None:
        self._deps = deps
        self._uid = uid
        self._stream = stream
        self._language = language
        self._samples = bytearray()
        self._end = 0
        self._recording: Recording | None = None
        self._part: BlobPart | None = None
        self._stored_from = self._stored_until = 0
        self._stored_s = 0.0

    @property
    def start(self) -> float:
        """From when on sound waits, in seconds of the stream."""
        return self._begin / _BYTES_PER_S

    @property
    def is_due(self) -> bool:
        """Whether enough of it is nowhere else."""
        return self._end - max(self._begin, self._stored_until) >= STORED_EVERY_S * _BYTES_PER_S

    @property
    def is_stale(self) -> bool:
        """Whether something of what is stored was heard."""
        return self._recording is not None and self._stored_from != self._begin

    @property
    def _begin(self) -> int:
        return self._end - len(self._samples)

    def take(self, samples: bytes) -> None:
        self._samples += samples
        self._end += len(samples)

    def forget(self, heard_until: float) -> None:
        """Let go of sound whose words are stored, or which has none."""
        until = _to_bytes(min(heard_until, self._end / _BYTES_PER_S))
        del self._samples[: max(until - self._begin, 0)]

    def silence(self, window: Window) -> None:
        """Pass over sound that is transcribed another way."""
        begin = max(_to_bytes(window.start) - self._begin, 0)
        end = max(_to_bytes(window.start) + len(window.samples) - self._begin, 0)
        self._samples[begin:end] = bytes(len(self._samples[begin:end]))

    def skip_stored(self) -> None:
        """Leave what is stored to whoever transcribes it by now."""
        self.forget(self._stored_until / _BYTES_PER_S)
        self._forget_recording()

    def build_late(self, began_at: datetime) -> LateSound | None:
        """Return what waits, since it will not be heard; None where that is nothing, or silence."""
        samples = bytes(self._samples)
        return LateSound(began_at=began_at, samples=samples) if any(samples) else None

    async def store(self, live: LiveConversation, began_at: datetime) -> None:
        """Store what waits in that conversation, for whoever finds it when this process has died.

        What cannot be stored is tried again with more of it.
        """
        recording, samples, end = self._recording, bytes(self._samples), self._end
        try:
            if recording is None:
                recording = await self._begin_recording(live, began_at)
            added_s = len(samples) / _BYTES_PER_S - self._stored_s
            self._part = await append_sound(
                self._deps, self._uid, recording, build_wav(samples), added_s, replaced=self._part
            )
        except (NotFound, QuotaExceeded, Unavailable) as error:
            telemetry.warning("live_sound_not_stored", error=type(error).__name__)
            if self._part is None or isinstance(error, NotFound):
                self._forget_recording()
        else:
            self._stored_s += added_s
        self._stored_until = end

    async def _begin_recording(self, live: LiveConversation, began_at: datetime) -> Recording:
        recording = build_recording(self._deps, live, began_at, language=self._language)
        until = recording.created_at + HELD_FOR
        await schedule_transcription(
            self._deps.tasks, self._uid, recording.id, self._deps.new_id(), at=until
        )
        self._recording = replace(recording, attempt=self._stream, lease_until=until)
        self._stored_from = self._begin
        return self._recording

    async def give_way(self) -> Write | None:
        """Return a write that goes with the one of its words; None where nothing is stored.

        Both raise PreconditionFailed where another attempt transcribes it by now.
        """
        if self._part is None or self._recording is None:
            return None
        recordings = self._deps.stores.recordings
        return await recordings.give_way(self._uid, self._recording.id, self._stream)

    async def discard(self) -> None:
        """Delete what is stored, now or when it is stale: its words are stored, or it is transcribed another way."""
        try:
            if self._part is not None and self._recording is not None:
                await forget_recording(self._deps, self._uid, self._recording.id)
        except Unavailable:
            telemetry.warning("live_sound_not_deleted")
        else:
            self._forget_recording()

    def _forget_recording(self) -> None:
        self._recording = self._part = None
        self._stored_until, self._stored_s = 0, 0.0


def _to_bytes(seconds: float) -> int:
    return 2 * round(seconds * SAMPLE_RATE)
