"""Late sound: what a stream's transcriber could not hear in time is transcribed as a file is, by a task.

Its words join the conversation of the stream, whether that is over by then or not.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from functions.media.deps import ListenDeps
from shared.domain.conversations.live_conversation import LiveConversation
from shared.domain.conversations.recording import Recording
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.ids import ConversationId, UserId
from shared.domain.value import value
from shared.library.recordings import append_sound, schedule_transcription
from shared.library.sound import build_wav


@value
class LateSound:
    """16-bit samples of SAMPLE_RATE, mono, and when they were said."""

    began_at: datetime
    samples: bytes


async def transcribe_later(
    deps: ListenDeps,
    uid: UserId,
    live: LiveConversation,
    sounds: Sequence[LateSound],
    *,
    language: str | None,
) -> None:
    """Store sounds of a live conversation, in their order, and have them transcribed as one.

    `language` is ISO 639-1 where the device named one: others may be spoken behind the first words. Raises NotFound where the conversation was deleted, QuotaExceeded and Unavailable.
    """
    samples = _join(sounds)
    recording = build_recording(deps, live, sounds[0].began_at, language=language)
    seconds = len(samples) / (2 * SAMPLE_RATE)
    await append_sound(deps, uid, recording, build_wav(samples), seconds)
    await schedule_transcription(deps.tasks, uid, recording.id, deps.new_id())


def build_recording(
    deps: ListenDeps, live: LiveConversation, began_at: datetime, *, language: str | None
) -> Recording:
    """Build a recording of unheard sound as WAV, which is empty."""
    return Recording(
        id=ConversationId(deps.new_id()),
        created_at=deps.clock.now(),
        size=0,
        media_type="audio/x-wav",
        started_at=began_at,
        language=language,
        source=live.source,
        target_id=live.id,
    )


def _join(sounds: Sequence[LateSound]) -> bytes:
    """Return their samples, with silence between them, so that each keeps its time."""
    samples = bytearray(sounds[0].samples)
    for _, sound in pairwise(sounds):
        offset_s = (sound.began_at - sounds[0].began_at).total_seconds()
        samples += bytes(2 * max(round(offset_s * SAMPLE_RATE) - len(samples) // 2, 0))
        samples += sound.samples
    return bytes(samples)
