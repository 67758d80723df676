"""Schemas of files: what is sent of them, and what the released app and the console read."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from shared.domain.files.file import File, FileStatus
from shared.domain.ids import UserId
from shared.edge.declare.common_schemas import PageQuery
from shared.edge.declare.schemas import ID_PATTERN, Wire
from shared.library.files import build_document_address, build_thumbnail_address

MAX_FILES_AT_ONCE = 10


class FilesIn(Wire):
    """Complete uploads that become files, where they do not come as a form."""

    uploads: Annotated[
        list[Annotated[str, Field(pattern=ID_PATTERN)]], Field(max_length=MAX_FILES_AT_ONCE)
    ] = Field(default_factory=list)


class FilesQuery(PageQuery):
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class FileOut(Wire):
    """A file. Released apps read the fields up to `created_at`.

    `mime_type` is guessed by the name until the file is read. A `rejected` file says why in `reason`.
    Of a picture `width` and `height` are those that models get, in pixels. `document` is where a
    browser opens a PDF that was read, at a page by `#page=3`.
    """

    id: str
    openai_file_id: str
    name: str
    mime_type: str
    thumbnail: str | None
    created_at: datetime
    status: FileStatus
    reason: str
    size: int
    token_count: int
    page_count: int
    width: int
    height: int
    document: str | None

    @classmethod
    def of(cls, file: File, uid: UserId, public_url: str) -> "FileOut":
        path = build_thumbnail_address(file, uid)
        document = build_document_address(file, uid)
        return cls(
            id=file.id,
            openai_file_id=file.id,
            name=file.name,
            mime_type=file.media_type,
            thumbnail=f"{public_url}{path}" if path else None,
            created_at=file.created_at,
            status=file.status,
            reason=file.reason,
            size=file.size,
            token_count=file.token_count,
            page_count=file.page_count,
            width=file.width,
            height=file.height,
            document=f"{public_url}{document}" if document else None,
        )


class FilePageOut(Wire):
    """A page of files, newest first; `next` is the cursor of the following one."""

    items: list[FileOut]
    next: str | None


class ReadFileIn(Wire):
    """The task that reads a file."""

    uid: UserId
    file_id: str
