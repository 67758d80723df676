"""Files from an upload to their end: handed to reading, read by pages, and forgotten with their rows."""

import mimetypes
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from pydantic_core import from_json, to_json

from shared import telemetry
from shared.data.files.files import file_path
from shared.data.files.uploads import upload_path
from shared.data.search.file_index import FileIndex
from shared.domain.amounts import describe_bytes
from shared.domain.errors import NotFound, TooLarge
from shared.domain.files.file import MAX_FILE_BYTES, PDF_TYPE, File, Page
from shared.domain.files.upload import Upload
from shared.domain.ids import FileId, UserId
from shared.library.uploads import UploadDeps, UploadRemovalDeps, get_complete
from shared.ports import Blobs, Tasks

READ_TARGET = "read_file"
MAX_NAME_CHARS = 255
PICTURE_TYPE = "image/webp"
"""Of the pictures that are made of files: what models get, and thumbnails."""


class FileRemovalDeps(UploadRemovalDeps, Protocol):
    """What forgetting a file needs."""

    @property
    def file_index(self) -> FileIndex: ...


async def start_file(deps: UploadDeps, uid: UserId, upload_id: str) -> File:
    """Make a complete upload a file that is read behind this call; a repeat returns it.

    Raises Conflict, NotFound, Gone and TooLarge.
    """
    now, key, document_key = deps.clock.now(), deps.new_id(), deps.new_id()
    (stored,) = await deps.stores.files.find_all(uid, [upload_id])
    if stored is None:
        _check_size(await get_complete(deps, uid, upload_id))

    def build(upload: Upload) -> File:
        return File(
            id=FileId(upload.id),
            created_at=now,
            name=_clean_name(upload.name),
            size=upload.length,
            parts=upload.parts,
            media_type=mimetypes.guess_type(upload.name)[0] or "application/octet-stream",
            thumbnail_key=key,
            document_key=document_key,
        )

    file = await deps.stores.files.add_upload(uid, upload_id, build, now=now)
    if file.status == "processing":
        await schedule_reading(deps.tasks, uid, file.id, deps.new_id())
    return file


def _check_size(upload: Upload) -> None:
    if upload.length > MAX_FILE_BYTES:
        raise TooLarge(f"A file has at most {describe_bytes(MAX_FILE_BYTES)}; this one is larger.")


def _clean_name(name: str) -> str:
    """Return the name without a path, as a sender's system may write one."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1].strip()
    return "".join(sign for sign in last if sign.isprintable())[:MAX_NAME_CHARS] or "file"


async def schedule_reading(
    tasks: Tasks, uid: UserId, file_id: str, occasion: str, *, at: datetime | None = None
) -> None:
    """Create a task; `occasion` is new each time, as a name is taken once an hour."""
    name = f"read-file-{telemetry.hash_id(uid)}-{file_id}-{occasion}"
    await tasks.create(READ_TARGET, name, {"uid": uid, "file_id": file_id}, at=at)


async def store_pages(blobs: Blobs, uid: UserId, file_id: FileId, pages: Sequence[Page]) -> None:
    content = to_json([[page.number, page.text] for page in pages])
    await blobs.write(_pages_path(uid, file_id), content, media_type="application/json")


async def load_pages(blobs: Blobs, uid: UserId, file_id: FileId) -> list[Page]:
    """Return the pages of a file that was read, in their order; none of a picture."""
    try:
        content = await blobs.read(_pages_path(uid, file_id))
    except NotFound:
        return []
    return [Page(number=number, text=text) for number, text in from_json(content)]


async def load_picture(blobs: Blobs, uid: UserId, file_id: FileId) -> bytes:
    """Return a picture as models get it, a PICTURE_TYPE. Raises NotFound for what is none."""
    return await blobs.read(picture_path(uid, file_id))


async def forget_file(deps: FileRemovalDeps, uid: UserId, file_id: str) -> bool:
    """Delete a file with everything that was made of it; False where there is none.

    Its document goes last, so that an interrupted deletion is found again.
    """
    (file,) = await deps.stores.files.find_all(uid, [file_id])
    if file is None:
        return False
    await drop_content(deps, uid, file)
    removed = await deps.stores.files.take_out(uid, file.id)
    if removed is not None:
        now = deps.clock.now()
        await deps.quotas.give_back(uid, "stored_bytes", removed.size, now=now)
    return True


async def drop_content(deps: FileRemovalDeps, uid: UserId, file: File) -> None:
    """Delete the blobs and the rows of a file."""
    await deps.file_index.remove(uid, file)
    await deps.blobs.delete_tree(file_path(uid, file.id))
    await deps.blobs.delete_tree(upload_path(uid, file.id))


def build_thumbnail_address(file: File, uid: UserId) -> str | None:
    """Return the path where whoever knows it sees the thumbnail; None where there is none."""
    if not file.has_thumbnail:
        return None
    return f"/v2/files/{file.id}/thumbnail?owner={uid}&key={file.thumbnail_key}"


def find_thumbnail_file(address: str) -> FileId | None:
    """Return the file whose thumbnail stands at an address of ours; None for any other."""
    match address.partition("?")[0].split("/"):
        case ["", "v2", "files", file_id, "thumbnail"]:
            return FileId(file_id)
    return None


def build_document_address(file: File, uid: UserId) -> str | None:
    """Return the path where whoever knows it opens a PDF that was read; None for any other file."""
    if file.media_type != PDF_TYPE or file.status != "ready":
        return None
    return f"/v2/files/{file.id}/document?owner={uid}&key={file.document_key}"


def _pages_path(uid: UserId, file_id: FileId) -> str:
    return f"{file_path(uid, file_id)}/pages"


def picture_path(uid: UserId, file_id: FileId) -> str:
    return f"{file_path(uid, file_id)}/picture"


def thumbnail_path(uid: UserId, file_id: FileId) -> str:
    return f"{file_path(uid, file_id)}/thumbnail"
