"""Import of files: how far reading and keeping them is."""

from datetime import datetime, timedelta
from typing import Literal

from shared.domain.files.wearable_name import WearableName
from shared.domain.ids import UserId
from shared.domain.value import value

IMPORT_TTL = timedelta(days=7)
ImportStatus = Literal["reading", "preview", "keeping", "completed"]


@value
class RefusedItem:
    """An item of file number `file` that the library did not take, how it is called, and why."""

    file: int
    kind: str
    id: str
    title: str
    reason: str


@value
class FileImport:
    """An import of one or more files.

    `uploads` are files that were uploaded before, last changed as `modified` says, `read_count` of which are read; the next one left its place `postponed_count` times. What was read stands
    in `batch_count` batches of blobs; keeping has come to `position`. In `preview` its owner has not
    decided yet. `text_files` are the numbers of files that nobody knows and that are kept as text.
    Each decision begins a `round`. Of `conversation_count` conversations, `kept_count` are in the
    library, and `refused` are the first of the items that it did not take. Where a quota is used up, it goes on at `resumes_at`, and `waits_for` says why.
    Of a `wearable`, pages are fetched from `cursor` on by its owner's key, which is sealed, and empty once they are all read.
    """

    id: str
    created_at: datetime
    expires_at: datetime
    status: ImportStatus
    is_preview: bool = False
    uploads: tuple[str, ...] = ()
    modified: tuple[datetime | None, ...] = ()
    read_count: int = 0
    postponed_count: int = 0
    file_count: int = 0
    batch_count: int = 0
    position: int = 0
    round: int = 0
    text_files: tuple[int, ...] = ()
    conversation_count: int = 0
    kept_count: int = 0
    refused: tuple[RefusedItem, ...] = ()
    resumes_at: datetime | None = None
    waits_for: str = ""
    wearable: WearableName | None = None
    cursor: str = ""
    sealed_key: str = ""

    @property
    def is_open(self) -> bool:
        return self.status != "completed"

    @property
    def is_working(self) -> bool:
        return self.status in ("reading", "keeping")

    @property
    def step(self) -> tuple[object, ...]:
        """The place where the work stands: two attempts at one step know it by this."""
        return self.round, self.status, self.read_count, self.position, self.resumes_at


def import_folder(uid: UserId, import_id: str) -> str:
    """Return where the blobs of an import stand."""
    return f"users/{uid}/imports/{import_id}"
