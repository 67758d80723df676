"""Uploads from their start to their end: counted, stored in parts, and deleted when used or expired."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from shared import telemetry
from shared.data.account.quotas import Quotas
from shared.data.files.uploads import check_part, upload_path
from shared.data.stores import Stores
from shared.domain.amounts import describe_bytes
from shared.domain.errors import AlreadyExists, CallerError, Conflict, Invalid, TooLarge
from shared.domain.files.upload import (
    MAX_PART_BYTES,
    MAX_UPLOAD_BYTES,
    UPLOAD_TTL,
    BlobPart,
    Upload,
    UploadId,
)
from shared.domain.ids import UserId
from shared.ports import Blobs, Clock, NewId, Tasks

EXPIRE_TARGET = "expire_upload"
MAX_NAME_CHARS = 200


class UploadDeps(Protocol):
    """What uploads need of the dependencies of an entry point."""

    @property
    def clock(self) -> Clock: ...
    @property
    def new_id(self) -> NewId: ...
    @property
    def stores(self) -> Stores: ...
    @property
    def quotas(self) -> Quotas: ...
    @property
    def blobs(self) -> Blobs: ...
    @property
    def tasks(self) -> Tasks: ...


class UploadRemovalDeps(Protocol):
    """What the deletion of an upload needs."""

    @property
    def clock(self) -> Clock: ...
    @property
    def stores(self) -> Stores: ...
    @property
    def quotas(self) -> Quotas: ...
    @property
    def blobs(self) -> Blobs: ...


async def start_upload(
    deps: UploadDeps,
    uid: UserId,
    *,
    length: int,
    name: str,
    media_type: str,
    upload_id: str | None = None,
) -> Upload:
    """Announce a file of `length` bytes, under a new id unless one is given, and count all of it as stored.

    The task that deletes it in 7 days is created first. Raises Invalid, TooLarge, QuotaExceeded, and AlreadyExists for a given id.
    """
    _check_length(length)
    now = deps.clock.now()
    upload = Upload(
        id=UploadId(upload_id or deps.new_id()),
        length=length,
        created_at=now,
        expires_at=now + UPLOAD_TTL,
        name=name[:MAX_NAME_CHARS],
        media_type=media_type[:MAX_NAME_CHARS],
    )
    await _schedule_expiry(deps.tasks, uid, upload)
    await deps.quotas.take(uid, "stored_bytes", length, now=now)
    try:
        await deps.stores.uploads.add(uid, upload)
    except AlreadyExists:
        await deps.quotas.give_back(uid, "stored_bytes", length, now=now)
        raise
    return upload


def _check_length(length: int) -> None:
    if length <= 0:
        raise Invalid("The file is empty.")
    if length > MAX_UPLOAD_BYTES:
        raise TooLarge(
            f"A file has at most {describe_bytes(MAX_UPLOAD_BYTES)}; this one is larger. Split it, or make it "
            "smaller, and send the pieces."
        )


async def append_to_upload(
    deps: UploadDeps, uid: UserId, upload_id: str, content: bytes, *, offset: int
) -> Upload:
    """Store the part that begins at `offset`; a part that was stored before is refused, not doubled.

    Each attempt writes a blob of its own, and the transaction that moves the offset decides which
    counts. Raises Conflict, NotFound, Gone and TooLarge.
    """
    upload = await deps.stores.uploads.get(uid, upload_id, now=deps.clock.now())
    check_part(upload, offset=offset, size=len(content))
    if not content:
        return upload
    path = f"{upload_path(uid, upload.id)}/{offset}-{deps.new_id()}"
    await deps.blobs.write(path, content, media_type="application/octet-stream")
    part = BlobPart(path=path, size=len(content))
    try:
        return await deps.stores.uploads.append(
            uid, upload.id, part, offset=offset, now=deps.clock.now()
        )
    except (
        CallerError
    ):  # another attempt was first; after any other error this one may have counted
        await deps.blobs.delete([path])
        raise


async def store_file(
    deps: UploadDeps,
    uid: UserId,
    content: bytes,
    *,
    name: str,
    media_type: str,
    upload_id: str | None = None,
) -> Upload:
    """Store a file that arrived whole as an upload that is complete. Raises as start_upload()."""
    upload = await start_upload(
        deps, uid, length=len(content), name=name, media_type=media_type, upload_id=upload_id
    )
    for offset in range(0, len(content), MAX_PART_BYTES):
        part = content[offset : offset + MAX_PART_BYTES]
        upload = await append_to_upload(deps, uid, upload.id, part, offset=offset)
    return upload


async def get_complete(deps: UploadRemovalDeps, uid: UserId, upload_id: str) -> Upload:
    """Raises NotFound, Gone, and Conflict for one that has not arrived whole."""
    upload = await deps.stores.uploads.get(uid, upload_id, now=deps.clock.now())
    if not upload.is_complete:
        raise Conflict(
            f"The upload is not complete: {upload.offset} of {upload.length} bytes arrived."
        )
    return upload


async def iterate_content(blobs: Blobs, parts: Sequence[BlobPart]) -> AsyncIterator[bytes]:
    """Yield a file part by part, each of at most MAX_PART_BYTES."""
    for part in parts:
        yield await read_part(blobs, part)


async def read_part(blobs: Blobs, part: BlobPart) -> bytes:
    """Return a part as it was when it was looked up: live sound grows meanwhile."""
    return (await blobs.read(part.path))[: part.size]


async def delete_upload(deps: UploadRemovalDeps, uid: UserId, upload_id: str) -> bool:
    """Delete an upload that was given up or has expired; False where there is none.

    It is closed first, so that nothing takes its blobs over, and its document goes last, so that an
    interrupted deletion is found again.
    """
    now = deps.clock.now()
    if not await deps.stores.uploads.close(uid, upload_id, now=now):
        return False
    await deps.blobs.delete_tree(upload_path(uid, upload_id))
    upload = await deps.stores.uploads.remove(uid, upload_id)
    if upload is not None:
        await deps.quotas.give_back(uid, "stored_bytes", upload.length, now=now)
    return True


async def _schedule_expiry(tasks: Tasks, uid: UserId, upload: Upload) -> None:
    name = f"expire-upload-{telemetry.hash_id(uid)}-{upload.id}"
    body = {"uid": uid, "upload_id": upload.id}
    await tasks.create(EXPIRE_TARGET, name, body, at=upload.expires_at)
