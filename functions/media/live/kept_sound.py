"""Kept sound of a stream: what was said can be heard again, as MP3, where its owner keeps sound.

Sound waits until it is known whether it belongs to a conversation: words are heard later than their sound. What
belongs to none is dropped. Each stretch without a long gap is a recording of its conversation.
"""

from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta

from functions.media.deps import ListenDeps
from functions.media.live.mp3_encoder import MEDIA_TYPE, Mp3Encoder
from shared import telemetry
from shared.domain.conversations.live_conversation import LiveConversation
from shared.domain.conversations.recording import Recording
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.errors import NotFound, QuotaExceeded, Unavailable
from shared.domain.files.upload import BlobPart
from shared.domain.ids import ConversationId, UserId
from shared.domain.value import value
from shared.library.recordings import append_sound

CHUNK_S = 0.25
"""What is encoded at once: a millisecond of a processor, which other streams wait for."""
LEAD = timedelta(seconds=1)
"""Sound before the first words that is kept with them."""
MAX_WAIT = timedelta(seconds=120)
STORED_EVERY_S = 5.0
"""What is stored at once; so much is lost with its process."""
PART_S = 60.0
"""What stands in one blob, which is written anew as it grows."""
MAX_JITTER = timedelta(seconds=2)
MAX_FILLED = timedelta(seconds=30)
"""A shorter gap is filled with silence; after a longer one, another recording begins."""
_BYTES_PER_S = 2 * SAMPLE_RATE


@value
class _Chunk:
    """Encoded sound of a stretch."""

    stretch: int
    began_at: datetime
    seconds: float
    content: bytes

    @property
    def ended_at(self) -> datetime:
        return self.began_at + timedelta(seconds=self.seconds)


class KeptSound:
    def __init__(self, deps: ListenDeps, uid: UserId, stream: str, source: str) -> None:
        self.is_wanted = False
        self._deps = deps
        self._uid = uid
        self._stream = stream
        self._source = source
        self._encoder: Mp3Encoder | None = None
        self._samples = bytearray()
        self._began_at: datetime | None = None
        self._stretch = 0
        self._chunks = deque[_Chunk]()
        self._part: list[_Chunk] = []
        self._stored: BlobPart | None = None
        self._stored_s = 0.0
        self._holder: ConversationId | None = None
        self._number = 0

    def take(self, samples: bytes, now: datetime) -> None:
        """Take sound that has just come, if its owner wants it kept."""
        if not (self.is_wanted and samples):
            return
        began_at = now - timedelta(seconds=len(samples) / _BYTES_PER_S)
        if self._began_at is not None:
            gap = began_at - self._began_at - _measure(self._samples)
            if gap > MAX_FILLED:
                self._end_stretch()
            elif gap > MAX_JITTER:
                self._samples += bytes(2 * round(gap.total_seconds() * SAMPLE_RATE))
        if self._began_at is None:
            self._began_at = began_at
        self._samples += samples
        if len(self._samples) >= CHUNK_S * _BYTES_PER_S:
            self._encode()

    async def place(self, live: LiveConversation | None, heard_until: datetime) -> None:
        """Store the sound of a conversation with words, in parts; drop what was heard and belongs to none."""
        holder = live.id if live else None
        if holder != self._holder:
            await self._begin_recording()
            self._holder = holder
        while self._chunks:
            chunk = self._chunks[0]
            if live is not None and chunk.ended_at > live.started_at - LEAD:
                if self._part and self._part[0].stretch != chunk.stretch:
                    await self._begin_recording()
                self._part.append(chunk)
            elif chunk.ended_at > max(heard_until, self._chunks[-1].ended_at - MAX_WAIT):
                break
            self._chunks.popleft()
            if _add_up(self._part) >= PART_S:
                await self.flush()
        if _add_up(self._part) - self._stored_s >= STORED_EVERY_S:
            await self.flush()

    async def end(self, live: LiveConversation | None, heard_until: datetime) -> None:
        """Store what is left of a stream that has ended."""
        if self._began_at is not None:
            self._end_stretch()
        await self.place(live, heard_until)
        await self.flush()

    async def flush(self) -> None:
        """Store what belongs to the conversation so far, if its owner keeps sound by now; beyond a quota, nothing for now."""
        seconds = _add_up(self._part)
        if seconds <= self._stored_s or self._holder is None:
            return
        first = self._part[0]
        recording = Recording(
            id=ConversationId(f"{self._stream}-{self._number}"),
            created_at=first.began_at,
            started_at=first.began_at,
            size=0,
            media_type=MEDIA_TYPE,
            source=self._source,
            status="done",
            conversation_id=self._holder,
        )
        content = b"".join(chunk.content for chunk in self._part)
        try:
            profile = await self._deps.stores.profiles.get(self._uid)
            if profile.keeps_audio:
                self._stored = await append_sound(
                    self._deps,
                    self._uid,
                    recording,
                    content,
                    seconds - self._stored_s,
                    replaced=self._stored,
                )
                self._stored_s = seconds
                if seconds >= PART_S:
                    self._begin_part()
                return
            self.is_wanted = False
        except (NotFound, QuotaExceeded, Unavailable) as error:
            self.is_wanted = not isinstance(error, QuotaExceeded)
            telemetry.warning("live_sound_lost", error=type(error).__name__)
        self._begin_part()
        self._number += 1  # what follows would stand too early in the same recording

    async def _begin_recording(self) -> None:
        await self.flush()
        self._begin_part()
        self._number += 1

    def _begin_part(self) -> None:
        self._part, self._stored, self._stored_s = [], None, 0.0

    def _encode(self) -> None:
        samples, began_at = bytes(self._samples), self._began_at
        assert began_at is not None
        self._samples.clear()
        self._began_at = began_at + _measure(samples)
        self._encoder = self._encoder or Mp3Encoder()
        chunk = _Chunk(
            stretch=self._stretch,
            began_at=began_at,
            seconds=len(samples) / _BYTES_PER_S,
            content=self._encoder.encode(samples),
        )
        self._chunks.append(chunk)

    def _end_stretch(self) -> None:
        """Encode what waits; what comes then is another recording."""
        if self._samples:
            self._encode()
        self._encoder, self._began_at = None, None
        self._stretch += 1


def _add_up(chunks: Sequence[_Chunk]) -> float:
    return sum(chunk.seconds for chunk in chunks)


def _measure(samples: bytes | bytearray) -> timedelta:
    return timedelta(seconds=len(samples) / _BYTES_PER_S)
