"""Transcription of a recording: piece by piece, each stored, until it is handed to processing.

Also called: speech to text, speech recognition, ASR.
"""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import count

import anyio

from functions.media.deps import TranscribeDeps
from functions.media.sound.open_sound import iterate_pieces, open_sound
from functions.media.sound.place import add_to_live, place_conversation
from functions.media.sound.speakers import Speakers
from functions.media.sound.speech_profile import load_owner_voice
from shared import telemetry
from shared.data.conversations.recordings import AttemptReplaced
from shared.domain.account.hearing import build_hint
from shared.domain.account.profile import Profile
from shared.domain.account.speech_profile import OWNER_VOICE
from shared.domain.conversations.claim import LEASE_EXTENSION_INTERVAL
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.conversations.recording import (
    MAX_ATTEMPTS,
    MAX_DURATION,
    Recording,
    RecordingFailure,
    RecordingStatus,
)
from shared.domain.conversations.speaker_labels import build_label
from shared.domain.conversations.speech import Transcription, Utterance
from shared.domain.errors import (
    CallerError,
    Conflict,
    ModelFailed,
    QuotaExceeded,
    TooLarge,
    Unavailable,
)
from shared.domain.failure import FailureReason
from shared.domain.ids import UserId
from shared.library.recordings import (
    delete_sound,
    forget_recording,
    schedule_transcription,
)
from shared.library.sound import Piece, build_wav
from shared.resilience.heartbeat import keep_extending

WORK_TIME = timedelta(seconds=120)
"""After so long, the next piece is left to another task: the platform ends a request after 540 s."""
NOTHING_HEARD = "Nobody speaks in this recording, or nothing could be understood."
NO_CONNECTION = "The transcription service does not answer. Check its address, or try again later."
DEFAULT_LANGUAGE = "en"


class NobodySpeaks(Conflict):
    """Nothing that a transcriber understands is in the sound."""


_AT_ONCE = anyio.CapacityLimiter(3)
"""Each holds 10 MB of sound in memory a few times."""


async def transcribe(deps: TranscribeDeps, uid: UserId, recording_id: str) -> None:
    """Go on with a recording where the last attempt stopped.

    A repeat finds what is stored. Raises Unavailable: call again.
    """
    claimed = await deps.stores.recordings.claim(
        uid, recording_id, deps.new_id(), now=deps.clock.now()
    )
    if claimed is None:
        return await _finish_repeat(deps, uid, recording_id)
    beat = partial(_extend, deps, uid, claimed)
    async with keep_extending(beat, every_s=LEASE_EXTENSION_INTERVAL.total_seconds()):
        with suppress(AttemptReplaced):
            await _attempt(deps, uid, claimed)
    return None


async def _finish_repeat(deps: TranscribeDeps, uid: UserId, recording_id: str) -> None:
    """Complete what an attempt left that died behind its last step."""
    recording = await deps.stores.recordings.find(uid, recording_id)
    if recording is not None and recording.status == "silent":
        await delete_sound(deps, uid, recording.id)
    elif recording is not None and recording.status == "done":
        await _settle_sound(deps, uid, recording)


async def _extend(deps: TranscribeDeps, uid: UserId, claimed: Recording) -> None:
    await deps.stores.recordings.extend(
        uid, claimed.id, claimed.attempt or "", now=deps.clock.now()
    )


async def _attempt(deps: TranscribeDeps, uid: UserId, claimed: Recording) -> None:
    try:
        async with _AT_ONCE:
            conversation = await _build_conversation(deps, uid, claimed)
        if conversation is None:
            await _continue_later(deps, uid, claimed)
            return
        await _store(deps, uid, claimed, conversation)
    except ModelFailed as error:
        await _fail(deps, uid, claimed, error.reason, str(error), can_retry=True)
    except TooLarge as error:
        await _fail(deps, uid, claimed, "too_long", str(error), can_retry=False)
    except QuotaExceeded as error:
        await _fail(deps, uid, claimed, "other", str(error), can_retry=True)
    except NobodySpeaks as error:
        await _end_silent(deps, uid, claimed, str(error))
    except CallerError as error:
        await _fail(deps, uid, claimed, "other", str(error), can_retry=False)
    except Unavailable:
        await _give_way(deps, uid, claimed)


async def _give_way(deps: TranscribeDeps, uid: UserId, claimed: Recording) -> None:
    """Let the next attempt begin at once; after many in vain, tell the owner instead."""
    if claimed.attempt_count >= MAX_ATTEMPTS:
        await _fail(deps, uid, claimed, "no_connection", NO_CONNECTION, can_retry=True)
        return
    await deps.stores.recordings.end_attempt(uid, claimed)
    raise Unavailable("The recording could not be transcribed yet")


async def _build_conversation(
    deps: TranscribeDeps, uid: UserId, claimed: Recording
) -> Conversation | None:
    """Transcribe all pieces; None where the time of this attempt is over before the last."""
    began_at, profile = deps.clock.now(), await deps.stores.profiles.get(uid)
    speakers = Speakers(await load_owner_voice(deps, uid))
    utterances = list[Utterance]()
    languages = list[str | None]()
    sound = await open_sound(deps.blobs, claimed.parts)
    announced_s = min(sound.facts.duration_s or 0.0, MAX_DURATION.total_seconds())
    duration_s = 0.0
    async for piece in iterate_pieces(sound):
        stored = await deps.stores.recordings.load_piece(uid, claimed.id, piece.number)
        if stored is None:
            if deps.clock.now() - began_at > WORK_TIME:
                return None
            stored = await _transcribe_piece(deps, claimed, piece, speakers, profile)
            progress = replace(
                claimed, transcribed_s=piece.end, duration_s=max(announced_s, piece.end)
            )
            await deps.stores.recordings.save_piece(uid, progress, piece.number, stored)
        speakers.remember(piece, stored.utterances)
        utterances += stored.utterances
        languages.append(stored.language)
        duration_s = piece.end
    language = claimed.language or next(filter(None, languages), None) or profile.language
    return _to_conversation(
        replace(claimed, started_at=claimed.started_at or sound.facts.recorded_at),
        utterances,
        duration=timedelta(seconds=duration_s),
        language=language or DEFAULT_LANGUAGE,
        provider=deps.transcriber.name,
        is_one_voice=deps.transcriber.tells_speakers
        and len({each.speaker for each in utterances}) == 1,
    )


async def _transcribe_piece(
    deps: TranscribeDeps, claimed: Recording, piece: Piece, speakers: Speakers, profile: Profile
) -> Transcription:
    """Return what is said in a piece, with labels and times of the whole recording."""
    hearing = profile.hearing
    own_language = (
        profile.language.partition("-")[0] if profile.language and hearing.single_language else None
    )
    transcription = await deps.transcriber.transcribe(
        build_wav(piece.samples),
        language=claimed.language or own_language,
        voices=speakers.voices,
        hint=build_hint(hearing.vocabulary),
    )
    labelled = speakers.label(transcription)
    return replace(
        transcription,
        utterances=tuple(
            replace(each, start=each.start + piece.start, end=each.end + piece.start)
            for each in labelled
        ),
    )


def _to_conversation(
    recording: Recording,
    utterances: list[Utterance],
    *,
    duration: timedelta,
    language: str,
    provider: str,
    is_one_voice: bool,
) -> Conversation:
    """Raises NobodySpeaks."""
    if not utterances:
        raise NobodySpeaks(NOTHING_HEARD)
    started_at = recording.started_at or (recording.changed_at or recording.created_at) - duration
    is_owner = is_one_voice and recording.is_own_voice
    labels = {each.speaker for each in utterances} - {OWNER_VOICE}
    owner_label = next(label for n in count() if (label := build_label(n)) not in labels)
    return Conversation(
        id=recording.id,
        created_at=started_at,
        started_at=started_at,
        finished_at=started_at + duration,
        source=recording.source or ("phone" if recording.is_own_voice else "unknown"),
        language=language,
        transcript_segments=tuple(
            Segment(
                text=each.text,
                speaker=owner_label
                if each.speaker == OWNER_VOICE
                else each.speaker or build_label(0),
                is_user=is_owner or each.speaker == OWNER_VOICE,
                start=round(each.start, 3),
                end=round(each.end, 3),
                stt_provider=provider,
            )
            for each in utterances
        ),
    )


async def _store(
    deps: TranscribeDeps, uid: UserId, claimed: Recording, conversation: Conversation
) -> None:
    """Hand the conversation to processing, then end with the sound kept or deleted."""
    if await add_to_live(deps, uid, claimed, conversation):
        await forget_recording(deps, uid, claimed.id)
        return
    await place_conversation(deps, uid, claimed, conversation)
    duration_s = (conversation.finished_at - conversation.started_at).total_seconds()
    done = await deps.stores.recordings.end_attempt(
        uid,
        claimed,
        status="done",
        started_at=conversation.started_at,
        duration_s=duration_s,
        transcribed_s=duration_s,
    )
    await _settle_sound(deps, uid, done)


async def _settle_sound(deps: TranscribeDeps, uid: UserId, done: Recording) -> None:
    profile = await deps.stores.profiles.get(uid)
    is_kept_already = done.is_live and done.conversation_id is not None
    if done.parts and (is_kept_already or not profile.keeps_audio):
        await delete_sound(deps, uid, done.id)


async def _continue_later(deps: TranscribeDeps, uid: UserId, claimed: Recording) -> None:
    await deps.stores.recordings.end_attempt(uid, claimed)
    await schedule_transcription(deps.tasks, uid, claimed.id, deps.new_id())


async def _fail(
    deps: TranscribeDeps,
    uid: UserId,
    claimed: Recording,
    reason: FailureReason,
    detail: str,
    *,
    can_retry: bool,
) -> None:
    telemetry.add_fields(outcome="failed", reason=reason)
    failure = RecordingFailure(reason=reason, detail=detail, can_retry=can_retry)
    await deps.stores.recordings.end_attempt(uid, claimed, status="failed", failure=failure)


async def _end_silent(deps: TranscribeDeps, uid: UserId, claimed: Recording, detail: str) -> None:
    """Tell who handed sound in that nobody speaks; a recorder that is always on is not told, nor kept."""
    failure = RecordingFailure(reason="other", detail=detail, can_retry=False)
    status: RecordingStatus = "silent" if claimed.file_ids or claimed.is_live else "failed"
    telemetry.add_fields(outcome=status)
    await deps.stores.recordings.end_attempt(uid, claimed, status=status, failure=failure)
    if status == "silent":
        await delete_sound(deps, uid, claimed.id)
