"""Files of a phone over HTTP, as the Omi app sends what it or its device recorded without a connection.

Also called: sync-local-files, offline sync.
"""

from datetime import timedelta

from starlette.responses import JSONResponse

from functions.media.sound.sync_files import MAX_FILES, take_files
from functions.media.sound.sync_schemas import (
    SyncIn,
    SyncJobOut,
    SyncJobStartedOut,
    SyncQuery,
    SyncResultOut,
)
from shared.domain.conversations.sync_job import SyncJob, SyncState
from shared.domain.ids import UserId
from shared.edge.declare.routes import Call, Form, route
from shared.library.deps import LibraryDeps

MAX_FORM_FILE_BYTES = 31_457_280
"""Cloud Run takes 32 MB a request."""
MAX_WAIT = timedelta(seconds=100)
_PAUSE_S = 1.0
_FORM = Form(
    json_field=None, file_field="files", max_file_bytes=MAX_FORM_FILE_BYTES, max_files=MAX_FILES
)
_ERRORS = (401, 409, 413, 422, 429)


@route(
    "POST",
    "/v2/sync-local-files",
    "Hand in recorded files of a phone, which are transcribed behind the answer",
    status=202,
    errors=_ERRORS,
    form=_FORM,
)
async def sync_files(deps: LibraryDeps, call: Call[SyncIn, SyncQuery]) -> SyncJobStartedOut:
    job = await take_files(deps, call.uid, call.files, target_id=call.query.target_id)
    return SyncJobStartedOut.of(job, file_count=len(call.files))


@route(
    "GET",
    "/v2/sync-local-files/{job_id}",
    "Say what became of recorded files",
    errors=(401, 404),
)
async def get_sync_job(deps: LibraryDeps, call: Call) -> SyncJobOut:
    job = await deps.stores.sync_jobs.get(call.uid, call.path["job_id"], now=deps.clock.now())
    return SyncJobOut.of(await _load_state(deps, call.uid, job))


@route(
    "POST",
    "/v1/sync-local-files",
    "Hand in recorded files of a phone, and wait for their conversations for a while",
    other_statuses=(207,),
    errors=_ERRORS,
    form=_FORM,
)
async def sync_files_at_once(
    deps: LibraryDeps, call: Call[SyncIn, SyncQuery]
) -> SyncResultOut | JSONResponse:
    """Sound that is not text by then is kept all the same: the phone need not send it again."""
    job = await take_files(deps, call.uid, call.files, target_id=call.query.target_id)
    end = deps.clock.now() + MAX_WAIT
    state = await _load_state(deps, call.uid, job)
    while not state.is_over and deps.clock.now() < end:
        await deps.clock.sleep(_PAUSE_S)
        state = await _load_state(deps, call.uid, job)
    result = SyncResultOut.of(state)
    return JSONResponse(result.model_dump(mode="json"), 207) if state.failed_count else result


async def _load_state(deps: LibraryDeps, uid: UserId, job: SyncJob) -> SyncState:
    recordings = await deps.stores.recordings.find_many(uid, job.recording_ids)
    stored = {recording.id for recording in recordings}
    missing = [name for name in job.recording_ids if name not in stored]
    known = await deps.stores.conversations.list_known(uid, missing)
    known_ids = tuple(name for name in missing if name in known)
    return SyncState(job=job, recordings=tuple(recordings), known_ids=known_ids)


ROUTES = (sync_files, get_sync_job, sync_files_at_once)
