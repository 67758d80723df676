"""Recordings from an upload to their end: handed to transcription, and forgotten with their sound."""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Protocol

from shared import telemetry
from shared.data.files.uploads import upload_path
from shared.domain.conversations.recording import Recording
from shared.domain.errors import AlreadyExists, Conflict, Gone, Invalid, NotFound, Unavailable
from shared.domain.files.upload import BlobPart, Upload
from shared.domain.ids import ConversationId, UserId
from shared.domain.value import value
from shared.library.uploads import (
    UploadDeps,
    UploadRemovalDeps,
    delete_upload,
    get_complete,
    store_file,
)
from shared.ports import Tasks, Transcriber

TRANSCRIBE_TARGET = "transcribe_audio"
NO_TRANSCRIBER = (
    "Nothing is set up that turns speech into text, so the sound was not kept. Start Keepsake with "
    "make run SPEECH=local, which hears on this machine, choose OpenAI as the model in the console, or set "
    "OPENAI_API_KEY, or TRANSCRIPTION_BASE_URL for a server of your own, and send it once more."
)

NO_SOUND = "This is no sound file. Send MP3, M4A, WAV, FLAC, OGG, WebM or a film with sound."
BEING_STORED = "The same sound is being stored"
STORING_TIME = timedelta(minutes=2)
"""What storing takes at most: parts that are older were left by an attempt that died."""
_HEAD_BYTES = 8_192


class RecordingDeps(UploadDeps, Protocol):
    """What handing a recording to transcription needs."""

    @property
    def transcriber(self) -> Transcriber: ...


@value
class RecordingNotes:
    """What the sender of a recording knows of it; times in UTC, `language` as ISO 639-1.

    `changed_at` is when its file was last changed, which counts where the sound tells no time itself. The last
    three are those of a Recording.
    """

    started_at: datetime | None = None
    changed_at: datetime | None = None
    language: str | None = None
    is_own_voice: bool = False
    source: str | None = None
    file_ids: tuple[str, ...] = ()
    target_id: ConversationId | None = None


def require_transcriber(deps: RecordingDeps) -> None:
    """Raises Conflict, which says what to set, where nothing turns speech into text."""
    if not deps.transcriber.is_ready:
        raise Conflict(NO_TRANSCRIBER)


async def store_sound(
    deps: RecordingDeps,
    uid: UserId,
    content: bytes,
    *,
    name: str,
    media_type: str,
    identity: bytes | None = None,
) -> str:
    """Store sound under an id of its content, so that the same sound is never two conversations.

    An `identity` stands for content that another time may hold as well. Returns the id of its upload, or of its
    recording or conversation from before. Raises QuotaExceeded, and Unavailable while another attempt stores it.
    """
    upload_id = f"sound-{sha256(identity or content).hexdigest()[:32]}"
    if not await _is_stored(deps, uid, upload_id):
        try:
            await store_file(
                deps, uid, content, name=name, media_type=media_type, upload_id=upload_id
            )
        except AlreadyExists:
            raise Unavailable(BEING_STORED) from None
    return upload_id


async def _is_stored(deps: RecordingDeps, uid: UserId, upload_id: str) -> bool:
    """Tell whether the sound was handed in before; what an attempt left in parts is deleted.

    Raises Unavailable while another attempt may be storing it.
    """
    now = deps.clock.now()
    try:
        upload = await deps.stores.uploads.get(uid, upload_id, now=now)
    except NotFound:  # or a recording took it over in this moment: look there after
        pass
    except Gone:
        await delete_upload(deps, uid, upload_id)
    else:
        if upload.is_complete:
            return True
        wait = upload.created_at + STORING_TIME - now
        if wait > timedelta(0):
            raise Unavailable(BEING_STORED, retry_after_s=wait.total_seconds())
        await delete_upload(deps, uid, upload_id)
    if await deps.stores.recordings.find(uid, upload_id) is not None:
        return True
    return bool(await deps.stores.conversations.list_known(uid, [upload_id]))


async def start_recording(
    deps: RecordingDeps, uid: UserId, upload_id: str, notes: RecordingNotes
) -> Recording:
    """Make a complete upload a recording that is transcribed behind this call; a repeat returns it.

    It becomes the conversation of the same id. Ask require_transcriber() before anything is stored.
    Raises Conflict, NotFound, Gone, Invalid for what is no sound, and QuotaExceeded; of files that another
    recording has, AlreadyReceived.
    """
    require_transcriber(deps)
    now = deps.clock.now()
    media_type = await _find_media_type(deps, uid, upload_id)

    def build(upload: Upload) -> Recording:
        return Recording(
            id=ConversationId(upload.id),
            created_at=now,
            size=upload.length,
            name=upload.name,
            media_type=media_type,
            parts=upload.parts,
            started_at=notes.started_at,
            changed_at=notes.changed_at,
            language=notes.language,
            is_own_voice=notes.is_own_voice,
            source=notes.source,
            file_ids=notes.file_ids,
            target_id=notes.target_id,
        )

    recording = await deps.stores.recordings.add_upload(uid, upload_id, build, now=now)
    await schedule_transcription(deps.tasks, uid, recording.id, deps.new_id())
    return recording


async def _find_media_type(deps: RecordingDeps, uid: UserId, upload_id: str) -> str:
    """Return that of a recording; else of an upload, which is admitted. Raises NotFound."""
    recordings = deps.stores.recordings
    stored = await recordings.find(uid, upload_id)
    if stored is None:
        try:
            return await _admit(deps, uid, upload_id)
        except NotFound:
            stored = await recordings.find(uid, upload_id)  # another request made it one just now
            if stored is None:
                raise
    return stored.media_type


async def _admit(deps: RecordingDeps, uid: UserId, upload_id: str) -> str:
    """Count new sound towards the quota of a day; return its media type."""
    upload = await get_complete(deps, uid, upload_id)
    media_type = read_sound_type(await deps.blobs.read(upload.parts[0].path))
    await deps.quotas.take(uid, "sound_bytes", upload.length, now=deps.clock.now())
    return media_type


def read_sound_type(content: bytes) -> str:
    """Return the media type that the first bytes of a file with sound tell. Raises Invalid for others."""
    import filetype

    kind = filetype.guess_mime(content[:_HEAD_BYTES])
    if kind is None and content[4:8] == b"ftyp":  # of a brand that the library does not know
        kind = "video/mp4"
    if kind is None and content.startswith(b"caff"):
        kind = "audio/x-caf"
    if kind is None or not kind.startswith(("audio/", "video/")):
        raise Invalid(NO_SOUND)
    return str(kind)


async def append_sound(
    deps: UploadDeps,
    uid: UserId,
    recording: Recording,
    content: bytes,
    seconds: float,
    *,
    replaced: BlobPart | None = None,
) -> BlobPart:
    """Add so many seconds of sound to a recording that goes on, or begin it; return its last part.

    `content` is a new part, or what stands in the last one, `replaced`, and what came behind it.
    Raises NotFound where its conversation or that sound was deleted, QuotaExceeded and Unavailable.
    """
    now = deps.clock.now()
    path = replaced.path if replaced else f"{upload_path(uid, recording.id)}/{deps.new_id()}"
    added = len(content) - (replaced.size if replaced else 0)
    await deps.quotas.take(uid, "stored_bytes", added, now=now)
    try:
        await deps.blobs.write(path, content, media_type=recording.media_type)
    except Unavailable:
        await deps.quotas.give_back(uid, "stored_bytes", added, now=now)
        raise
    part = BlobPart(path=path, size=len(content))
    try:
        await deps.stores.recordings.append(uid, recording, part, seconds, replaced=replaced)
    except NotFound:
        await deps.blobs.delete([path])
        await deps.quotas.give_back(uid, "stored_bytes", added, now=now)
        raise
    return part


async def schedule_transcription(
    tasks: Tasks, uid: UserId, recording_id: str, occasion: str, *, at: datetime | None = None
) -> None:
    """Create a task; `occasion` is new each time, as a name is taken once an hour."""
    name = f"transcribe-{telemetry.hash_id(uid)}-{recording_id}-{occasion}"
    await tasks.create(TRANSCRIBE_TARGET, name, {"uid": uid, "recording_id": recording_id}, at=at)


async def delete_sound(deps: UploadRemovalDeps, uid: UserId, recording_id: str) -> None:
    """Delete the sound of a recording; what was made of it stays."""
    await deps.blobs.delete_tree(upload_path(uid, recording_id))
    freed = await deps.stores.recordings.drop_content(uid, recording_id)
    await _give_back(deps, uid, freed)


async def forget_recording(deps: UploadRemovalDeps, uid: UserId, recording_id: str) -> bool:
    """Delete a recording with its sound and its text; False where there is none."""
    if await deps.stores.recordings.find(uid, recording_id) is None:
        return False
    await deps.blobs.delete_tree(upload_path(uid, recording_id))
    await _give_back(deps, uid, await deps.stores.recordings.remove(uid, recording_id))
    return True


async def forget_sound_of(
    deps: UploadRemovalDeps, uid: UserId, conversation_id: ConversationId
) -> None:
    """Delete every recording of a conversation; those that a merge gave away stay."""
    for recording in await deps.stores.recordings.list_of_conversation(uid, conversation_id):
        await forget_recording(deps, uid, recording.id)


async def forget_unheard_of(
    deps: UploadRemovalDeps, uid: UserId, conversation_id: ConversationId
) -> None:
    """Delete the recordings whose words would still join a conversation: it was deleted."""
    for recording in await deps.stores.recordings.list_unheard_of(uid, conversation_id):
        await forget_recording(deps, uid, recording.id)


async def _give_back(deps: UploadRemovalDeps, uid: UserId, freed: int) -> None:
    if freed:
        await deps.quotas.give_back(uid, "stored_bytes", freed, now=deps.clock.now())
