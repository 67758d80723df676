"""Files over HTTP: hand them in, see what became of them, and delete them.

Also called: file upload.
"""

from contextlib import suppress
from urllib.parse import quote

import anyio
from starlette.responses import Response

from functions.media.byte_ranges import answer_parts
from functions.media.deps import FileDeps
from functions.media.files.file_schemas import (
    MAX_FILES_AT_ONCE,
    FileOut,
    FilePageOut,
    FilesIn,
    FilesQuery,
    ReadFileIn,
)
from functions.media.files.read_file import read_file, read_in_turn
from functions.media.keyed_addresses import KeyedAddress
from shared import telemetry
from shared.domain.errors import CallerError, Invalid, NotFound, Unavailable
from shared.domain.files.file import PDF_TYPE, File
from shared.domain.ids import UserId
from shared.edge.declare.routes import Call, CreatingCall, Form, UploadedFile, route
from shared.library.files import (
    PICTURE_TYPE,
    build_document_address,
    forget_file,
    load_picture,
    start_file,
    thumbnail_path,
)
from shared.library.uploads import delete_upload, store_file

MAX_FORM_BYTES = 31_457_280
"""Of all files of a request; larger ones are uploaded before."""
AT_ONCE_BYTES = 8_388_608
"""Files of together so many bytes are read before they are answered."""
AT_ONCE_S = 20.0
NO_FILE = 'Send files as the field "files" of a form, or {"uploads": [ids]} of complete uploads.'
NOT_FOUND = "File not found"
_PRIVATE = {"Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff"}


@route(
    "POST",
    "/v2/files",
    "Hand in files: PDF, office documents, texts, tables and pictures",
    errors=(400, 401, 404, 409, 410, 413, 415, 422, 429),
    form=Form(
        json_field="options",
        file_field="files",
        max_file_bytes=MAX_FORM_BYTES,
        max_files=MAX_FILES_AT_ONCE,
        is_json_optional=True,
    ),
)
async def add_files(deps: FileDeps, call: CreatingCall[FilesIn]) -> list[FileOut]:
    """Small files are read before the answer; `status` says of others that they still are."""
    if not call.files and not call.body.uploads:
        raise Invalid(NO_FILE)
    files = [await start_file(deps, call.uid, upload_id) for upload_id in call.body.uploads]
    files += await _add_sent(deps, call)
    if sum(file.size for file in files) <= AT_ONCE_BYTES:
        await _read_at_once(deps, call.uid, files)
    found = await deps.stores.files.find_all(call.uid, [file.id for file in files])
    return [FileOut.of(file, call.uid, deps.public_url) for file in found if file]


async def _add_sent(deps: FileDeps, call: CreatingCall[FilesIn]) -> list[File]:
    """Keep the files of the form, all or none, under the names of the operation: a repeat goes on."""
    sent = {call.operation.build_part(n).name: file for n, file in enumerate(call.files)}
    try:
        return [await _add(deps, call.uid, name, file) for name, file in sent.items()]
    except CallerError:  # nobody else knows of them
        for name in sent:
            await forget_file(deps, call.uid, name)
            await delete_upload(deps, call.uid, name)
        raise


async def _add(deps: FileDeps, uid: UserId, file_id: str, sent: UploadedFile) -> File:
    if not any(await deps.stores.files.find_all(uid, [file_id])):
        await delete_upload(deps, uid, file_id)  # what an attempt before left in parts
        await store_file(deps, uid, sent.content, name=sent.name, media_type="", upload_id=file_id)
    return await start_file(deps, uid, file_id)


async def _read_at_once(deps: FileDeps, uid: UserId, files: list[File]) -> None:
    """Read files here; whatever is not ready in time is left to its task."""
    with anyio.move_on_after(AT_ONCE_S), suppress(Unavailable):
        for file in files:
            await read_file(deps, uid, file.id)


@route("GET", "/v2/files", "List files, newest first")
async def list_files(deps: FileDeps, call: Call[None, FilesQuery]) -> FilePageOut:
    page = await deps.stores.files.list_page(
        call.uid, limit=call.query.limit, after=call.query.cursor
    )
    items = [FileOut.of(file, call.uid, deps.public_url) for file in page.items]
    return FilePageOut(items=items, next=page.next)


@route("GET", "/v2/files/{file_id}", "Say what a file is, and whether it was read", errors=(404,))
async def get_file(deps: FileDeps, call: Call) -> FileOut:
    file = await deps.stores.files.get(call.uid, call.path["file_id"])
    return FileOut.of(file, call.uid, deps.public_url)


@route(
    "GET",
    "/v2/files/{file_id}/content",
    "Load a file as it was sent; ranges of bytes may be asked for",
    other_statuses=(206,),
    errors=(404, 416),
    media_type="application/octet-stream",
)
async def get_content(deps: FileDeps, call: Call) -> Response:
    """No browser shows it in our place: it is another's words, and may be a page with scripts."""
    file = await deps.stores.files.get(call.uid, call.path["file_id"])
    name = f"attachment; filename*=UTF-8''{quote(file.name)}"
    return answer_parts(
        call.headers.get("range"),
        deps.blobs,
        file.parts,
        media_type="application/octet-stream",
        also={"Content-Disposition": name},
    )


@route(
    "GET",
    "/v2/files/{file_id}/picture",
    "Show a picture as models get it",
    errors=(404,),
    media_type=PICTURE_TYPE,
)
async def get_picture(deps: FileDeps, call: Call) -> Response:
    file = await deps.stores.files.get(call.uid, call.path["file_id"])
    content = await load_picture(deps.blobs, call.uid, file.id)
    return Response(content, media_type=PICTURE_TYPE, headers=_PRIVATE)


@route(
    "GET",
    "/v2/files/{file_id}/thumbnail",
    "Show the thumbnail of a file to whoever has its address",
    access="anyone",
    errors=(404,),
    media_type=PICTURE_TYPE,
)
async def get_thumbnail(deps: FileDeps, call: Call[None, KeyedAddress]) -> Response:
    """Released apps load pictures without a token, so their addresses have a key."""
    uid = call.query.find_owner(NOT_FOUND)
    file = await deps.stores.files.get(uid, call.path["file_id"])
    if not file.has_thumbnail or not call.query.has_key(file.thumbnail_key):
        raise NotFound(NOT_FOUND)
    content = await deps.blobs.read(thumbnail_path(uid, file.id))
    return Response(content, media_type=PICTURE_TYPE, headers=_PRIVATE)


@route(
    "GET",
    "/v2/files/{file_id}/document",
    "Show a PDF to whoever has its address; ranges of bytes may be asked for",
    access="anyone",
    other_statuses=(206,),
    errors=(404, 416),
    media_type=PDF_TYPE,
)
async def show_document(deps: FileDeps, call: Call[None, KeyedAddress]) -> Response:
    """A browser opens it at a page, `#page=3`, by itself: it sends no token then."""
    uid = call.query.find_owner(NOT_FOUND)
    file = await deps.stores.files.get(uid, call.path["file_id"])
    if build_document_address(file, uid) is None or not call.query.has_key(file.document_key):
        raise NotFound(NOT_FOUND)
    return answer_parts(
        call.headers.get("range"),
        deps.blobs,
        file.parts,
        media_type=PDF_TYPE,
        also={"Content-Disposition": "inline"},
    )


@route("DELETE", "/v2/files/{file_id}", "Delete a file", status=204, errors=(404,))
async def delete_file(deps: FileDeps, call: Call) -> None:
    if not await forget_file(deps, call.uid, call.path["file_id"]):
        raise NotFound(NOT_FOUND)


@route("POST", "/", "A file is to be read", access="service", status=204)
async def on_file(deps: FileDeps, call: Call[ReadFileIn]) -> None:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    await read_in_turn(deps, call.body.uid, call.body.file_id)


ROUTES = (
    add_files,
    list_files,
    get_file,
    get_content,
    get_picture,
    get_thumbnail,
    show_document,
    delete_file,
)
READ_ROUTES = (on_file,)
