"""Uploads over HTTP by tus 1.0 (https://tus.io/protocols/resumable-upload): creation, expiration, termination.

A part that was cut off was never there: the client asks for the offset by HEAD and goes on from it.

Also called: chunked upload.
"""

import base64
import binascii
from collections.abc import Mapping
from email.utils import format_datetime

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response

from functions.media.deps import ExpireUploadDeps
from functions.media.uploads.upload_schemas import (
    ExpireUploadIn,
    PartHeaders,
    StartHeaders,
    UploadOut,
)
from shared import telemetry
from shared.data.files.uploads import NOT_FOUND
from shared.domain.errors import Invalid, NotFound
from shared.domain.files.upload import MAX_PART_BYTES, MAX_UPLOAD_BYTES, Upload
from shared.edge.declare.problems import RequestRejected, build_problem
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.deps import LibraryDeps
from shared.library.uploads import append_to_upload, delete_upload, start_upload

TUS_VERSION = "1.0.0"
TUS_HEADERS: Mapping[str, str] = {
    "Tus-Resumable": TUS_VERSION,
    "Tus-Version": TUS_VERSION,
    "Tus-Extension": "creation,expiration,termination",
    "Tus-Max-Size": str(MAX_UPLOAD_BYTES),
    "Cache-Control": "no-store",
}
PART_MEDIA_TYPE = "application/offset+octet-stream"
_PART_MEDIA_TYPES = (PART_MEDIA_TYPE, "application/octet-stream")


@route(
    "POST",
    "/v1/uploads",
    "Announce a file of up to 200 MB that is then sent in parts (tus 1.0)",
    status=201,
    headers=StartHeaders,
    errors=(401, 412, 413, 422, 429),
)
async def create_upload(deps: LibraryDeps, call: CreatingCall) -> UploadOut | Response:
    _check_version(call.headers)
    metadata = _parse_metadata(call.headers.get("upload-metadata", ""))
    upload = await start_upload(
        deps,
        call.uid,
        length=int(call.headers["upload-length"]),
        name=metadata.get("filename", ""),
        media_type=metadata.get("filetype", ""),
    )
    location = {"Location": f"/v1/uploads/{upload.id}"}
    return _build_answer(upload, status=201, headers=location)


@route(
    "OPTIONS",
    "/v1/uploads",
    "Say which version and extensions of tus are spoken, and how long a file may be",
    access="anyone",
    status=204,
)
async def describe_uploads(_: LibraryDeps, __: Call) -> Response:
    return Response(status_code=204, headers=TUS_HEADERS)


@route(
    "GET",
    "/v1/uploads/{upload_id}",
    "Say how much of a file arrived; HEAD says it in headers alone",
    errors=(401, 404, 410, 412),
)
async def get_upload(deps: LibraryDeps, call: Call) -> UploadOut | Response:
    _check_version(call.headers)
    now = deps.clock.now()
    return _build_answer(await deps.stores.uploads.get(call.uid, call.path["upload_id"], now=now))


@route(
    "PATCH",
    "/v1/uploads/{upload_id}",
    "Send the part of a file that begins at Upload-Offset; of at most 8 MiB",
    status=204,
    headers=PartHeaders,
    errors=(400, 401, 404, 409, 410, 412, 413, 415),
    max_bytes=MAX_PART_BYTES,
)
async def add_part(deps: LibraryDeps, call: Call[bytes]) -> Response:
    _check_version(call.headers)
    if call.headers.get("content-type", "") not in _PART_MEDIA_TYPES:
        raise RequestRejected(build_problem(415, f"Send the part as {PART_MEDIA_TYPE}."))
    upload = await append_to_upload(
        deps,
        call.uid,
        call.path["upload_id"],
        call.body,
        offset=int(call.headers["upload-offset"]),
    )
    return Response(status_code=204, headers=_build_headers(upload))


@route(
    "DELETE",
    "/v1/uploads/{upload_id}",
    "Give a file up; what arrived of it is deleted",
    status=204,
    errors=(401, 404, 412),
)
async def cancel_upload(deps: LibraryDeps, call: Call) -> Response:
    _check_version(call.headers)
    if not await delete_upload(deps, call.uid, call.path["upload_id"]):
        raise NotFound(NOT_FOUND)
    return Response(status_code=204, headers=TUS_HEADERS)


@route("POST", "/", "The time of an upload is over", access="service", status=204)
async def on_expiry(deps: ExpireUploadDeps, call: Call[ExpireUploadIn]) -> None:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    await delete_upload(deps, call.body.uid, call.body.upload_id)


def _check_version(headers: Headers) -> None:
    """Accept requests that name no version: curl is a client too."""
    if headers.get("tus-resumable", TUS_VERSION) != TUS_VERSION:
        detail = f"This server speaks version {TUS_VERSION} of tus."
        raise RequestRejected(build_problem(412, detail, headers=TUS_HEADERS))


def _parse_metadata(text: str) -> dict[str, str]:
    """Read `key base64,key base64`; a key may have no value. Raises Invalid."""
    pairs = [item.split() for item in text.split(",") if item.strip()]
    try:
        return {
            key: base64.b64decode("".join(rest), validate=True).decode() for key, *rest in pairs
        }
    except (binascii.Error, UnicodeDecodeError) as error:
        raise Invalid(
            "Upload-Metadata: want names with base64 texts, as `filename aGkudHh0`"
        ) from error


def _build_answer(
    upload: Upload, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    content = UploadOut.model_validate(upload).model_dump(mode="json")
    return JSONResponse(content, status, {**_build_headers(upload), **(headers or {})})


def _build_headers(upload: Upload) -> Mapping[str, str]:
    return {
        **TUS_HEADERS,
        "Upload-Offset": str(upload.offset),
        "Upload-Length": str(upload.length),
        "Upload-Expires": format_datetime(upload.expires_at, usegmt=True),
    }


ROUTES = (create_upload, describe_uploads, get_upload, add_part, cancel_upload)
EXPIRE_ROUTES = (on_expiry,)
