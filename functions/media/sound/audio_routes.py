"""Recordings over HTTP: hand in speech, follow its transcription, and hear what was kept.

Also called: audio upload, audio playback.
"""

from collections.abc import AsyncIterator, Sequence
from functools import partial

from starlette.responses import Response

from functions.media.deps import TranscribeDeps
from functions.media.sound.audio_schemas import (
    AudioIn,
    RecordingOut,
    RecordingsOut,
    RecordingsQuery,
    SoundQuery,
    TranscribeIn,
)
from functions.media.sound.byte_ranges import Stretch, answer_range
from functions.media.sound.transcribe import transcribe
from shared import telemetry
from shared.data.conversations.recordings import NOT_FOUND
from shared.domain.conversations.recording import Recording
from shared.domain.errors import Conflict, Invalid, NotFound, QuotaExceeded, Unavailable
from shared.domain.files.upload import BlobPart
from shared.domain.ids import UserId
from shared.edge.declare.routes import Call, CreatingCall, Form, UploadedFile, route
from shared.library.deps import LibraryDeps
from shared.library.recordings import (
    BEING_STORED,
    forget_recording,
    read_sound_type,
    require_transcriber,
    schedule_transcription,
    start_recording,
    store_sound,
)
from shared.library.uploads import delete_upload, iterate_content, read_part
from shared.ports import Blobs

MAX_FORM_FILE_BYTES = 31_457_280
"""Cloud Run takes 32 MB a request; larger files are uploaded in parts."""
MAX_RANGE_BYTES = 4_194_304
"""What one answer to a range holds; a player asks for the next."""
NO_FILE = (
    "Send a sound file as the field 'file' of a form, or {\"upload\": id} of a complete upload."
)
IS_CONVERSATION = (
    "This sound became a conversation before; delete that to have it transcribed again."
)


@route(
    "POST",
    "/v1/audio",
    "Hand in speech as a form's file, or as an upload; it becomes a conversation behind the answer, once",
    status=202,
    errors=(401, 404, 409, 410, 413, 422, 429),
    form=Form(
        json_field="recording",
        file_field="file",
        max_file_bytes=MAX_FORM_FILE_BYTES,
        is_json_optional=True,
    ),
)
async def add_audio(deps: LibraryDeps, call: CreatingCall[AudioIn]) -> RecordingOut:
    require_transcriber(deps)
    upload_id = call.body.upload or await _store(deps, call.uid, call.file)
    try:
        recording = await start_recording(deps, call.uid, upload_id, call.body.to_notes())
    except NotFound:
        if call.body.upload is not None:
            raise
        if await deps.stores.conversations.list_known(call.uid, [upload_id]):
            raise Conflict(IS_CONVERSATION) from None
        raise Unavailable(BEING_STORED) from None  # another request deleted it just now
    except QuotaExceeded:
        if call.body.upload is None:  # nobody else knows of it
            await delete_upload(deps, call.uid, upload_id)
        raise
    return RecordingOut.of(recording)


async def _store(deps: LibraryDeps, uid: UserId, file: UploadedFile | None) -> str:
    """Store the file of a form. Raises Invalid for what is no sound."""
    if file is None or not file.content:
        raise Invalid(NO_FILE)
    media_type = read_sound_type(file.content)
    return await store_sound(deps, uid, file.content, name=file.name, media_type=media_type)


@route("GET", "/v1/audio", "List recordings and how far their transcription is")
async def list_audio(deps: LibraryDeps, call: Call[None, RecordingsQuery]) -> RecordingsOut:
    conversation_id = call.query.conversation_id
    recordings = (
        await deps.stores.recordings.list_of_conversation(call.uid, conversation_id)
        if conversation_id
        else await deps.stores.recordings.list_newest(call.uid)
    )
    return RecordingsOut(
        items=[RecordingOut.of(recording) for recording in recordings],
        can_transcribe=deps.transcriber.is_ready,
        tells_speakers=deps.transcriber.tells_speakers,
    )


@route("GET", "/v1/audio/{recording_id}", "Say how far a transcription is", errors=(401, 404))
async def get_audio(deps: LibraryDeps, call: Call) -> RecordingOut:
    recording = await deps.stores.recordings.get(call.uid, call.path["recording_id"])
    return RecordingOut.of(recording)


@route(
    "POST",
    "/v1/audio/{recording_id}/retry",
    "Transcribe a recording again that failed",
    status=202,
    errors=(401, 404, 409),
)
async def retry_audio(deps: LibraryDeps, call: Call) -> RecordingOut:
    recording = await deps.stores.recordings.get(call.uid, call.path["recording_id"])
    require_transcriber(deps)
    reopened = await deps.stores.recordings.reopen(call.uid, recording.id)
    await schedule_transcription(deps.tasks, call.uid, recording.id, deps.new_id())
    return RecordingOut.of(reopened)


@route(
    "DELETE",
    "/v1/audio/{recording_id}",
    "Delete a recording with its sound; a conversation made of it stays",
    status=204,
    errors=(401, 404),
)
async def delete_audio(deps: LibraryDeps, call: Call) -> None:
    if not await forget_recording(deps, call.uid, call.path["recording_id"]):
        raise NotFound(NOT_FOUND)


@route(
    "GET",
    "/v1/conversations/{conversation_id}/audio",
    "Hear a conversation whose sound was kept; ranges of bytes may be asked for",
    other_statuses=(206,),
    errors=(401, 404, 416),
    media_type="audio/*",
)
async def get_conversation_audio(deps: LibraryDeps, call: Call[None, SoundQuery]) -> Response:
    recordings = await deps.stores.recordings.list_of_conversation(
        call.uid, call.path["conversation_id"]
    )
    wanted = call.query.recording
    kept = (each for each in recordings if each.parts and wanted in (None, each.id))
    recording = next(kept, None)
    if recording is None:
        raise NotFound("No sound of this conversation is kept.")
    return _serve(deps.blobs, recording, call.headers.get("range"))


def _serve(blobs: Blobs, recording: Recording, range_header: str | None) -> Response:
    return answer_range(
        range_header,
        partial(_iterate_stretch, blobs, recording.parts),
        size=recording.size,
        media_type=recording.media_type or "application/octet-stream",
        max_bytes=MAX_RANGE_BYTES,
    )


async def _iterate_stretch(
    blobs: Blobs, parts: Sequence[BlobPart], stretch: Stretch | None
) -> AsyncIterator[bytes]:
    """Yield the bytes of a stretch, and read no other part; of None, the whole file."""
    if stretch is None:
        async for content in iterate_content(blobs, parts):
            yield content
        return
    begin = 0
    for part in parts:
        end = begin + part.size
        if begin <= stretch.last and stretch.first < end:
            content = await read_part(blobs, part)
            yield content[max(stretch.first - begin, 0) : stretch.last + 1 - begin]
        begin = end


@route("POST", "/", "A recording is to be transcribed", access="service", status=204)
async def on_recording(deps: TranscribeDeps, call: Call[TranscribeIn]) -> None:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    await transcribe(deps, call.body.uid, call.body.recording_id)


ROUTES = (
    add_audio,
    list_audio,
    get_audio,
    retry_audio,
    delete_audio,
    get_conversation_audio,
)
TRANSCRIBE_ROUTES = (on_recording,)
