"""Speech profiles: a sample of the owner's voice, taken in, given to transcribers, and deleted."""

import io
from array import array
from dataclasses import replace
from datetime import datetime, timedelta

from anyio import to_thread

from functions.media.deps import TranscribeDeps
from functions.media.sound.speakers import MAX_CLIP_S
from shared.data.account.speech_profiles import speech_profile_path
from shared.domain.account.speech_profile import OWNER_VOICE, SpeechProfile
from shared.domain.conversations.speech import SAMPLE_RATE, Voice
from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import UserId
from shared.domain.value import value
from shared.library.deps import LibraryDeps
from shared.library.sound import WAV_HEADER_BYTES, Sound, build_wav

MIN_S, MAX_S = 5.0, 180.0
KEY_TTL = timedelta(hours=1)
MIN_LOUDNESS = 50
"""The mean of samples, of 32,768; a microphone in a quiet room is below it."""
BAD_LENGTH = f"A sample of your voice has {MIN_S:.0f} to {MAX_S:.0f} seconds."
SILENT = "Nobody speaks in this sample."
_BYTES_PER_S = 2 * SAMPLE_RATE


@value
class _Sample:
    wav: bytes
    duration_s: float
    clip_start_s: float


async def store_speech_profile(deps: LibraryDeps, uid: UserId, content: bytes) -> SpeechProfile:
    """Keep a sample in place of an earlier one. Raises Invalid and QuotaExceeded."""
    sample = await to_thread.run_sync(_read, content)
    now = deps.clock.now()
    profile = SpeechProfile(
        created_at=now,
        size=len(sample.wav),
        duration_s=sample.duration_s,
        clip_start_s=sample.clip_start_s,
        play_key=deps.new_id(),
        play_key_until=now + KEY_TTL,
    )
    await deps.quotas.take(uid, "stored_bytes", profile.size, now=now)
    await deps.blobs.write(speech_profile_path(uid), sample.wav, media_type="audio/wav")
    await _replace(deps, uid, profile, now)
    return profile


async def delete_speech_profile(deps: LibraryDeps, uid: UserId) -> None:
    """A repeat changes nothing."""
    await deps.blobs.delete([speech_profile_path(uid)])
    await _replace(deps, uid, None, deps.clock.now())


async def _replace(
    deps: LibraryDeps, uid: UserId, profile: SpeechProfile | None, now: datetime
) -> None:
    freed = await deps.stores.speech_profiles.replace(uid, profile)
    await deps.quotas.give_back(uid, "stored_bytes", freed, now=now)


async def open_speech_profile(deps: LibraryDeps, uid: UserId) -> SpeechProfile | None:
    """Return the profile with a key that lets whoever has it hear it for an hour."""
    profile, now = await deps.stores.speech_profiles.find(uid), deps.clock.now()
    if profile is None or now < profile.play_key_until:
        return profile
    renewed = replace(profile, play_key=deps.new_id(), play_key_until=now + KEY_TTL)
    await deps.stores.speech_profiles.replace(uid, renewed)
    return renewed


async def load_owner_voice(deps: TranscribeDeps, uid: UserId) -> Voice | None:
    """Return the owner's voice for a transcriber that tells speakers apart; None without a sample."""
    profile = await deps.stores.speech_profiles.find(uid)
    if profile is None or not deps.transcriber.tells_speakers:
        return None
    try:
        wav = await deps.blobs.read(speech_profile_path(uid))
    except NotFound:  # it was deleted meanwhile
        return None
    start = WAV_HEADER_BYTES + round(profile.clip_start_s) * _BYTES_PER_S
    clip = wav[start : start + round(MAX_CLIP_S) * _BYTES_PER_S]
    return Voice(name=OWNER_VOICE, clip=build_wav(clip))


def _read(content: bytes) -> _Sample:
    """Decode a sample. Raises Invalid."""
    pieces = Sound(io.BytesIO(content)).iterate_pieces()
    piece = next(pieces, None)
    duration_s = piece.end if piece else 0.0
    if piece is None or not MIN_S <= duration_s <= MAX_S:
        raise Invalid(BAD_LENGTH)
    loudness = _measure_seconds(piece.samples)
    if max(loudness) < MIN_LOUDNESS:
        raise Invalid(SILENT)
    length = round(MAX_CLIP_S)
    starts = range(max(len(loudness) - length, 0) + 1)
    clip_start_s = max(starts, key=lambda start: sum(loudness[start : start + length]))
    return _Sample(
        wav=build_wav(piece.samples), duration_s=duration_s, clip_start_s=float(clip_start_s)
    )


def _measure_seconds(samples: bytes) -> list[float]:
    """Return the mean distance from silence in each second."""
    seconds = [samples[at : at + _BYTES_PER_S] for at in range(0, len(samples), _BYTES_PER_S)]
    return [2 * sum(map(abs, array("h", each))) / len(each) for each in seconds]
