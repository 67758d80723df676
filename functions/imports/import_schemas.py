"""Schemas of imports."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field

from shared.domain.files.file_import import FileImport, ImportStatus
from shared.domain.files.wearable_name import WearableName
from shared.domain.ids import UserId
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import AnyTime, Label, Utc

MAX_FILES = 500
MAX_UPLOADS = 20
MAX_TEXTS = 2_000

FileNumber = Annotated[int, Field(ge=0)]
FileStatus = Literal["kept", "question", "refused"]
OwnName = Annotated[str, Field(min_length=1, max_length=64)]


class ImportIn(Wire):
    """Files to import: those of the form, or `uploads` by id; or all that a `wearable` recorded.

    `key` is its owner's key of the wearable's API, which is sealed until everything is read.

    `modified` is when each was last changed, in their order: a conversation took place then, if its
    file does not tell. `me` is the name by which the files call the owner.
    """

    uploads: Annotated[tuple[Label, ...], Field(max_length=MAX_UPLOADS)] = ()
    modified: Annotated[tuple[AnyTime | None, ...], Field(max_length=MAX_FILES)] = ()
    me: OwnName | None = None
    wearable: WearableName | None = None
    key: Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,512}$")] | None = None


class ImportQuery(Wire):
    """With `preview`, nothing is kept before the owner says so."""

    preview: bool = False


class KeepIn(Wire):
    """`texts` are the numbers of files that nobody knows and that are to be kept as plain text."""

    texts: Annotated[tuple[FileNumber, ...], Field(max_length=MAX_TEXTS)] = ()
    me: OwnName | None = None


class ImportTaskIn(Wire):
    """The next step of an import; with `is_end`, its time is over."""

    uid: UserId
    id: Label
    is_end: bool = False


class ImportedConversationOut(Wire):
    """A conversation of a file. `is_known`: the library has it already, and it stays as it is.

    Where not `is_dated`, the file does not say when it took place: `started_at` is when it was last changed.
    """

    id: str
    title: str
    started_at: Utc
    segments: int
    speakers: list[str]
    is_known: bool
    is_dated: bool = True


class LeftOutOut(Wire):
    """What of a file is not kept: a conversation or a record, or so many `words` that are not read."""

    title: str
    reason: str
    words: int = 0


class NotTakenOut(Wire):
    """A part of an export that is not brought back, and why."""

    name: str
    reason: str


class ImportedFileOut(Wire):
    """What became of a file, or of one file of an archive; `number` names it.

    `question`: it is text in no known form; it is kept as plain text if its owner says so
    (`is_kept_as_text`). At most 200 conversations are listed; `conversation_count` counts all. `records`
    counts what else an export holds, by kind, and `not_taken` names what of it is not brought back.
    `left_out` are conversations and records of the file that cannot be kept, as was seen when they were
    read or when they were kept, and text of it that is not read.
    """

    number: int
    name: str
    status: FileStatus
    reason: str
    is_audio: bool
    is_kept_as_text: bool
    conversation_count: int
    conversations: list[ImportedConversationOut]
    memories: int
    action_items: int
    people: int
    records: dict[str, int] = Field(default_factory=dict)
    not_taken: list[NotTakenOut] = Field(default_factory=list)
    left_out: list[LeftOutOut]


class SpeakerOut(Wire):
    name: str
    segments: int


class ImportProgressOut(Wire):
    """How far an import is: of `conversation_count` conversations, `kept_count` are in the library.

    Where a quota is used up, it goes on by itself at `resumes_at`, and `waits_for` says why.
    """

    id: str
    status: ImportStatus
    conversation_count: int
    kept_count: int
    resumes_at: Utc | None
    waits_for: str


JobStatus = Literal["pending", "processing", "completed", "failed"]
JOB_STATUS: Mapping[ImportStatus, JobStatus] = {
    "reading": "processing",
    "preview": "pending",
    "keeping": "processing",
    "completed": "completed",
}


class LimitlessIn(Wire):
    """No field beside the file: its language is in it."""


class ImportJobOut(Wire):
    """An import as the released app lists it."""

    job_id: str
    status: JobStatus
    total_files: int
    processed_files: int
    conversations_created: int
    created_at: Utc
    error: str | None

    @classmethod
    def of(cls, stored: FileImport) -> Self:
        """Show one of which the library took nothing as failed, with the first reason."""
        total = max(stored.file_count, len(stored.uploads))
        error = stored.refused[0].reason if stored.refused and not stored.kept_count else None
        return cls(
            job_id=stored.id,
            status="failed" if error and not stored.is_open else JOB_STATUS[stored.status],
            total_files=total,
            processed_files=total if stored.status == "completed" else stored.read_count,
            conversations_created=stored.kept_count,
            created_at=stored.created_at,
            error=error,
        )


class ImportJobsQuery(Wire):
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class ImportOut(ImportProgressOut):
    """An import with what became of each file.

    `speakers` are those with a name, most words first. `asks_for_me`: nobody among them is known to be
    the owner; answer with `me`, or set the profile's `own_names`.
    """

    created_at: Utc
    expires_at: Utc
    files: list[ImportedFileOut]
    speakers: list[SpeakerOut]
    asks_for_me: bool
