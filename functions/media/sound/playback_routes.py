"""Kept sound of a conversation as the Omi app plays it: addresses, each good for an hour, of WAV files.

Also called: audio playback, signed URLs.
"""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, Literal

from anyio import CapacityLimiter
from starlette.responses import Response

from functions.media.byte_ranges import Stretch, answer_range, cut
from functions.media.keyed_addresses import KeyedAddress
from functions.media.sound.open_sound import iterate_pieces, open_sound
from shared.domain.conversations.recording import MAX_DURATION, Recording
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId, UserId
from shared.edge.declare.routes import Call, route
from shared.edge.declare.schemas import Wire
from shared.library.deps import LibraryDeps
from shared.library.sound import build_wav_header
from shared.ports import Blobs

KEY_TTL = timedelta(hours=1)
_DECODING = CapacityLimiter(2)
"""Pieces that are decoded at once, so that listeners leave threads to others."""
_SILENT_BYTES = 65_536
NO_SOUND = "No sound of this conversation is kept."


class AudioUrlOut(Wire):
    """Kept sound at an address that whoever has it may play; `duration` is in seconds."""

    id: str
    status: Literal["cached"]
    signed_url: str
    content_type: str
    duration: float


class AudioUrlsOut(Wire):
    audio_files: list[AudioUrlOut]


class PrecacheOut(Wire):
    """Whether there is sound: it needs no preparation."""

    status: Literal["started", "no_audio"]
    audio_file_count: int


@route(
    "GET",
    "/v1/sync/audio/{conversation_id}/urls",
    "Say where the kept sound of a conversation is played, for an hour",
    errors=(401, 404),
)
async def list_audio_urls(deps: LibraryDeps, call: Call) -> AudioUrlsOut:
    kept = await _list_kept(deps, call.uid, call.path["conversation_id"])
    return AudioUrlsOut(audio_files=[await _build_url(deps, call.uid, each) for each in kept])


async def _list_kept(deps: LibraryDeps, uid: UserId, conversation_id: str) -> list[Recording]:
    """Raises NotFound for an unknown conversation."""
    await deps.stores.conversations.check_exists(uid, ConversationId(conversation_id))
    recordings = await deps.stores.recordings.list_of_conversation(uid, conversation_id)
    return [each for each in recordings if each.parts]


async def _build_url(deps: LibraryDeps, uid: UserId, recording: Recording) -> AudioUrlOut:
    now = deps.clock.now()
    keyed = await deps.stores.recordings.give_key(
        uid, recording.id, deps.new_id(), now=now, until=now + KEY_TTL
    )
    place = f"{deps.public_url}/v1/sync/audio/{recording.holder_id}/{recording.id}/sound"
    return AudioUrlOut(
        id=recording.id,
        status="cached",
        signed_url=f"{place}?owner={uid}&key={keyed.play_key}",
        content_type="audio/wav",
        duration=_measure(recording),
    )


def _measure(recording: Recording) -> float:
    """Return its seconds; what a file tells of itself may be more than any recording has."""
    return min(recording.duration_s or 0.0, MAX_DURATION.total_seconds())


@route(
    "POST",
    "/v1/sync/audio/{conversation_id}/precache",
    "Say whether sound of a conversation is kept; it is ready as it is",
    errors=(401, 404),
)
async def precache_audio(deps: LibraryDeps, call: Call) -> PrecacheOut:
    kept = await _list_kept(deps, call.uid, call.path["conversation_id"])
    return PrecacheOut(status="started" if kept else "no_audio", audio_file_count=len(kept))


@route(
    "GET",
    "/v1/sync/audio/{conversation_id}/{audio_file_id}",
    "Hear kept sound of a conversation as WAV",
    other_statuses=(206,),
    errors=(401, 404, 416),
    media_type="audio/wav",
)
async def get_audio_file(deps: LibraryDeps, call: Call) -> Response:
    kept = await _list_kept(deps, call.uid, call.path["conversation_id"])
    recording = next((each for each in kept if each.id == call.path["audio_file_id"]), None)
    if recording is None:
        raise NotFound(NO_SOUND)
    return _play(call, deps.blobs, recording)


@route(
    "GET",
    "/v1/sync/audio/{conversation_id}/{audio_file_id}/sound",
    "Hear kept sound by its address, which the Omi app opens without a token",
    access="anyone",
    other_statuses=(206,),
    errors=(404, 416, 422),
    media_type="audio/wav",
)
async def play_audio(deps: LibraryDeps, call: Call[None, KeyedAddress]) -> Response:
    owner = call.query.find_owner(NO_SOUND)
    recording = await deps.stores.recordings.find(owner, call.path["audio_file_id"])
    if recording is None or not recording.parts or not _fits(deps, recording, call.query):
        raise NotFound(NO_SOUND)
    return _play(call, deps.blobs, recording)


def _fits(deps: LibraryDeps, recording: Recording, address: KeyedAddress) -> bool:
    until = recording.play_key_until
    return until is not None and deps.clock.now() < until and address.has_key(recording.play_key)


def _play(call: Call[Any, Any], blobs: Blobs, recording: Recording) -> Response:
    """Answer with WAV, which phones of every make play, whatever the sound is stored as."""
    size = 2 * round(_measure(recording) * SAMPLE_RATE)
    header = build_wav_header(size)

    def iterate(stretch: Stretch | None) -> AsyncIterator[bytes]:
        return cut(decode_wav(blobs, recording, header, size), stretch)

    return answer_range(
        call.headers.get("range"), iterate, size=len(header) + size, media_type="audio/wav"
    )


async def decode_wav(
    blobs: Blobs, recording: Recording, header: bytes, left: int
) -> AsyncIterator[bytes]:
    """Yield the header and as many bytes of sound as it tells, each piece decoded when it is asked for.

    Where the sound ends before, silence follows.
    """
    yield header
    sound = await open_sound(blobs, recording.parts)
    async for piece in iterate_pieces(sound, limiter=_DECODING):
        samples = piece.samples[:left]
        yield samples
        left -= len(samples)
        if not left:
            return
    for at in range(0, left, _SILENT_BYTES):
        yield bytes(min(_SILENT_BYTES, left - at))


ROUTES = (list_audio_urls, precache_audio, get_audio_file, play_audio)
