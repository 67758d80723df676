"""Files of a phone as they come: each is taken once, and those of one recording become one.

Also called: offline sync.
"""

import math
from collections.abc import Sequence
from datetime import datetime

from anyio import to_thread

from functions.media.sound.phone_files import (
    PhoneFile,
    group_by_recording,
    measure_recording,
    read_phone_file,
)
from functions.media.sound.phone_sound import join_files
from shared.data.conversations.recordings import AlreadyReceived
from shared.domain.conversations.sync_job import SYNC_JOB_TTL, RefusedFile, SyncJob
from shared.domain.errors import (
    CallerError,
    Conflict,
    Gone,
    Invalid,
    NotFound,
    QuotaExceeded,
    Unavailable,
)
from shared.domain.ids import ConversationId, UserId
from shared.edge.declare.routes import UploadedFile
from shared.library.deps import LibraryDeps
from shared.library.recordings import (
    RecordingNotes,
    require_transcriber,
    schedule_transcription,
    start_recording,
    store_sound,
)
from shared.library.uploads import delete_upload

MAX_FILES = 400
"""They are counted as received by one commit, which holds 500 writes."""
MAX_ATTEMPTS = 3
TAKEN_AT_ONCE = "The same files come in several requests at once"


async def take_files(
    deps: LibraryDeps,
    uid: UserId,
    files: Sequence[UploadedFile],
    *,
    target_id: ConversationId | None = None,
) -> SyncJob:
    """Make files recordings that are transcribed behind this call; those that came before are not made twice.

    With `target_id`, they are part of that conversation. Where a quota ends in the middle, what was taken stays
    so. Raises Conflict without a transcriber, Invalid where no file can be read, and QuotaExceeded.
    """
    require_transcriber(deps)
    now = deps.clock.now()
    read, refused = await to_thread.run_sync(_read_all, files, now)
    if not read:
        reasons = [f"{file.name}: {file.reason}" for file in refused]
        raise Invalid(reasons[0] if reasons else "Send files as the field 'files' of a form.")
    job = SyncJob(
        id=deps.new_id(),
        created_at=now,
        expires_at=now + SYNC_JOB_TTL,
        recording_ids=await _take_once(deps, uid, read, target_id),
        refused=tuple(refused),
    )
    await deps.stores.sync_jobs.add(uid, job)
    return job


def _read_all(
    files: Sequence[UploadedFile], now: datetime
) -> tuple[list[PhoneFile], list[RefusedFile]]:
    read, refused = list[PhoneFile](), list[RefusedFile]()
    for file in files:
        try:
            read.append(read_phone_file(file.name, file.content, now))
        except Invalid as error:
            refused.append(RefusedFile(name=file.name[:200], reason=str(error)))
    return read, refused


async def _take_once(
    deps: LibraryDeps, uid: UserId, files: Sequence[PhoneFile], target_id: ConversationId | None
) -> tuple[ConversationId, ...]:
    """Return the recordings of the files. Raises Unavailable where the same files keep coming at once."""
    for _ in range(MAX_ATTEMPTS):
        received = await deps.stores.recordings.find_received(uid, [file.id for file in files])
        new_files = [file for file in files if file.id not in received]
        groups = group_by_recording(new_files)
        try:
            started = [await _start(deps, uid, group, target_id) for group in groups]
        except AlreadyReceived:
            continue
        await _reopen_failed(deps, uid, sorted(set(received.values())))
        return tuple(dict.fromkeys([*received.values(), *started]))
    raise Unavailable(TAKEN_AT_ONCE)


async def _start(
    deps: LibraryDeps,
    uid: UserId,
    group: Sequence[PhoneFile],
    target_id: ConversationId | None,
) -> ConversationId:
    """Start the recording of a group, whose seconds are counted first, its pauses too."""
    now, seconds = deps.clock.now(), math.ceil(measure_recording(group))
    await deps.quotas.take(uid, "recorded_seconds", seconds, now=now)
    try:
        return await _start_counted(deps, uid, group, target_id)
    except (CallerError, AlreadyReceived, Unavailable):
        await deps.quotas.give_back(uid, "recorded_seconds", seconds, now=now)
        raise


async def _start_counted(
    deps: LibraryDeps,
    uid: UserId,
    group: Sequence[PhoneFile],
    target_id: ConversationId | None,
) -> ConversationId:
    """Return the recording of a group; where its conversation alone is left, that. Raises Unavailable."""
    first, file_ids = group[0], tuple(file.id for file in group)
    notes = RecordingNotes(
        started_at=first.started_at, source=first.source, file_ids=file_ids, target_id=target_id
    )
    sound = await to_thread.run_sync(join_files, group)
    upload_id = await store_sound(
        deps,
        uid,
        sound.content,
        name=f"{first.name.removesuffix('.bin')}.{sound.suffix}",
        media_type=sound.media_type,
        identity=" ".join(file_ids).encode(),
    )
    try:
        return (await start_recording(deps, uid, upload_id, notes)).id
    except (NotFound, Gone):  # also where another request gave the upload up
        if await deps.stores.conversations.list_known(uid, [upload_id]):
            return ConversationId(upload_id)
        raise Unavailable(TAKEN_AT_ONCE) from None
    except (QuotaExceeded, AlreadyReceived):  # nobody else knows of the upload
        await delete_upload(deps, uid, upload_id)
        raise


async def _reopen_failed(deps: LibraryDeps, uid: UserId, ids: Sequence[ConversationId]) -> None:
    """Have recordings transcribed again that failed and may do better now: the phone asks for them."""
    for recording in await deps.stores.recordings.find_many(uid, ids):
        if recording.failure and recording.failure.can_retry:
            try:
                await deps.stores.recordings.reopen(uid, recording.id)
            except Conflict:  # another request did
                continue
            await schedule_transcription(deps.tasks, uid, recording.id, deps.new_id())
