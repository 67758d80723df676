"""Imports over HTTP: hand in files, see what becomes of them, decide, and follow."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from starlette.responses import Response

from functions.imports.import_events import HEARTBEAT, stream_progress
from functions.imports.import_schemas import (
    MAX_FILES,
    ImportedFileOut,
    ImportIn,
    ImportJobOut,
    ImportJobsQuery,
    ImportOut,
    ImportProgressOut,
    ImportQuery,
    ImportTaskIn,
    KeepIn,
    LeftOutOut,
    LimitlessIn,
    SpeakerOut,
)
from functions.imports.plan.keep_items import continue_import
from functions.imports.plan.start_import import (
    count_speakers,
    discard,
    end_import,
    keep,
    start_import,
    start_uploaded_import,
)
from functions.imports.plan.stored_plan import read_report
from functions.imports.plan.wearable_steps import start_wearable_import
from functions.imports.refusals import CONVERSATION_KINDS
from shared import telemetry
from shared.domain.conversations.own_names import build_name_key
from shared.domain.errors import Invalid
from shared.domain.files.file_import import FileImport
from shared.domain.ids import UserId
from shared.edge.declare.event_stream import EventStream
from shared.edge.declare.routes import Call, CreatingCall, Form, UploadedFile, route
from shared.library.deps import ImportDeps, LibraryDeps
from shared.library.own_names import add_own_name

MAX_FORM_BYTES = 31_457_280
"""Of all files of a request; larger ones are uploaded before."""
MAX_BODY_BYTES = 65_536
MAX_SPEAKERS = 50
FILES_FORM = Form(
    json_field="options",
    file_field="files",
    max_file_bytes=MAX_FORM_BYTES,
    max_files=MAX_FILES,
    is_json_optional=True,
)


@route(
    "POST",
    "/v1/imports",
    "Import files: transcripts, chats, notes, exports, and zips of them",
    status=202,
    errors=(400, 401, 404, 409, 410, 413, 415, 422, 429),
    max_bytes=MAX_BODY_BYTES,
    form=FILES_FORM,
)
async def add_import(deps: LibraryDeps, call: CreatingCall[ImportIn, ImportQuery]) -> ImportOut:
    body, uid = call.body, call.uid
    if [bool(call.files), bool(body.uploads), bool(body.wearable)].count(True) != 1:
        raise Invalid("Send files as a form, the ids of uploads, or the name of a wearable.")
    if bool(body.wearable) != bool(body.key):
        raise Invalid("Send the name of a wearable with a key of its API.")
    if body.me is not None:
        await add_own_name(deps, uid, body.me)
    if body.wearable and body.key:
        stored = await start_wearable_import(
            deps, uid, body.wearable, body.key, is_preview=call.query.preview
        )
    elif call.files:
        sources = _build_sources(call.files, body.modified, deps.clock.now())
        stored = await start_import(deps, uid, sources, is_preview=call.query.preview)
    else:
        missing = len(body.uploads) - len(body.modified)
        modified = [*body.modified, *([None] * missing)][: len(body.uploads)]
        stored = await start_uploaded_import(
            deps, uid, body.uploads, modified, is_preview=call.query.preview
        )
    return await _describe(deps, uid, stored)


def _build_sources(
    files: Sequence[UploadedFile], modified: Sequence[datetime | None], now: datetime
) -> list[Any]:
    from functions.imports.plan.plan import SourceFile

    times = [*modified, *([None] * len(files))]
    return [
        SourceFile(name=file.name, data=file.content, modified=at or now)
        for file, at in zip(files, times, strict=False)
    ]


@route(
    "POST",
    "/v1/import/limitless",
    "Import a zip of Limitless as the released app sends it",
    errors=(400, 401, 413, 415, 422, 429),
    form=replace(FILES_FORM, json_field=None, file_field="file", max_files=1),
)
async def add_limitless_import(deps: LibraryDeps, call: CreatingCall[LimitlessIn]) -> ImportJobOut:
    if call.file is None:
        raise Invalid("Send the zip as the field 'file' of a form.")
    sources = _build_sources(call.files, (), deps.clock.now())
    return ImportJobOut.of(await start_import(deps, call.uid, sources, is_preview=False))


@route("GET", "/v1/import/jobs", "List imports as the released app does, newest first")
async def list_jobs(deps: LibraryDeps, call: Call[None, ImportJobsQuery]) -> list[ImportJobOut]:
    stored = await deps.stores.file_imports.list_newest(call.uid, limit=call.query.limit)
    return list(map(ImportJobOut.of, stored))


@route("GET", "/v1/import/jobs/{import_id}", "Say how far an import is", errors=(401, 404))
async def get_job(deps: LibraryDeps, call: Call) -> ImportJobOut:
    stored = await deps.stores.file_imports.get(call.uid, call.path["import_id"])
    return ImportJobOut.of(stored)


@route("GET", "/v1/imports/{import_id}", "Say what became of imported files", errors=(401, 404))
async def get_import(deps: LibraryDeps, call: Call) -> ImportOut:
    stored = await deps.stores.file_imports.get(call.uid, call.path["import_id"])
    return await _describe(deps, call.uid, stored)


@route(
    "GET",
    "/v1/imports/{import_id}/events",
    "Follow an import until it is completed, or asks its owner",
    errors=(401, 404),
    media_type="text/event-stream",
)
async def follow_import(deps: LibraryDeps, call: Call) -> Response:
    stored = await deps.stores.file_imports.get(call.uid, call.path["import_id"])
    return EventStream(stream_progress(deps, call.uid, stored.id), heartbeat=HEARTBEAT)


@route(
    "POST",
    "/v1/imports/{import_id}/keep",
    "Keep the files of a preview, and files that nobody knows as plain text",
    status=202,
    errors=(400, 401, 404, 409, 413, 415, 422),
    max_bytes=MAX_BODY_BYTES,
)
async def keep_import(deps: LibraryDeps, call: Call[KeepIn]) -> ImportProgressOut:
    if call.body.me is not None:
        await add_own_name(deps, call.uid, call.body.me)
    stored = await keep(deps, call.uid, call.path["import_id"], call.body.texts)
    return ImportProgressOut.model_validate(stored)


@route(
    "DELETE",
    "/v1/imports/{import_id}",
    "Discard an import; conversations that it put into the library stay",
    status=204,
    errors=(401, 404),
)
async def delete_import(deps: LibraryDeps, call: Call) -> None:
    await discard(deps, call.uid, call.path["import_id"])


@route("POST", "/", "The next step of an import is due", access="service", status=204)
async def on_import_step(deps: ImportDeps, call: Call[ImportTaskIn]) -> None:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    work = end_import if call.body.is_end else continue_import
    await work(deps, call.body.uid, call.body.id)


async def _describe(deps: LibraryDeps, uid: UserId, stored: FileImport) -> ImportOut:
    report = await read_report(deps.blobs, uid, stored)
    profile = await deps.stores.profiles.get(uid)
    speakers = count_speakers(report).most_common(MAX_SPEAKERS)
    own_keys = set(map(build_name_key, profile.own_names))
    is_owner_known = any(entry.get("has_owner") for entry in report) or any(
        build_name_key(name) in own_keys for name, _ in speakers
    )
    return ImportOut(
        **dict(ImportProgressOut.model_validate(stored)),
        created_at=stored.created_at,
        expires_at=stored.expires_at,
        files=[_build_file(number, entry, stored) for number, entry in enumerate(report)],
        speakers=[SpeakerOut(name=name, segments=count) for name, count in speakers],
        asks_for_me=bool(speakers) and not is_owner_known,
    )


def _build_file(number: int, entry: dict[str, Any], stored: FileImport) -> ImportedFileOut:
    refused = [item for item in stored.refused if item.file == number]
    ids = {item.id for item in refused if item.kind in CONVERSATION_KINDS}
    found = {
        **entry,
        "conversation_count": entry["conversation_count"] - len(ids),
        "conversations": [each for each in entry["conversations"] if each["id"] not in ids],
        "left_out": [*entry["left_out"], *map(LeftOutOut.model_validate, refused)],
    }
    return ImportedFileOut(
        **{name: found[name] for name in ImportedFileOut.model_fields.keys() & found.keys()},
        number=number,
        is_kept_as_text=number in stored.text_files,
    )


ROUTES = (
    add_import,
    add_limitless_import,
    list_jobs,
    get_job,
    get_import,
    follow_import,
    keep_import,
    delete_import,
)
IMPORT_FILES_ROUTES = (on_import_step,)
