"""Files of a user: what each is, and whether it was read."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from shared.data.files.uploads import load_upload, upload_path
from shared.data.store.codec import dump, load
from shared.data.store.records import Records
from shared.domain.errors import Conflict, NotFound
from shared.domain.files.file import File
from shared.domain.files.upload import Upload
from shared.domain.ids import FileId, UserId, is_id
from shared.domain.store.documents import Delete, Query, Set
from shared.ports import Transaction


class Files(Records[File]):
    """Documents `users/{uid}/files/{id}`; their content and what was read of it lie in blobs."""

    kind = File
    collection = "files"
    noun = "File"

    async def find_all(self, uid: UserId, ids: Sequence[str]) -> list[File | None]:
        """Return the files in the order of `ids`, all read at once; None for one that is gone."""
        known = [file_id for file_id in ids if is_id(file_id)]
        documents = await self._documents.get_many([file_path(uid, each) for each in known])
        files = {each.id: load(File, each) for each in documents if each}
        return [files.get(file_id) for file_id in ids]

    async def add_upload(
        self, uid: UserId, upload_id: str, build: Callable[[Upload], File], *, now: datetime
    ) -> File:
        """Make a complete upload a file, once; it takes over the blobs and what they count.

        Raises NotFound, Gone, and Conflict for an upload that has not arrived whole.
        """
        if not is_id(upload_id):
            raise NotFound("Upload not found")
        paths = [file_path(uid, upload_id), upload_path(uid, upload_id)]

        async def work(tx: Transaction) -> File:
            stored, upload_document = await tx.get_many(paths)
            if stored is not None:
                return load(File, stored)
            upload = load_upload(upload_document, now)
            if not upload.is_complete:
                raise Conflict(
                    f"The upload is not complete: {upload.offset} of {upload.length} bytes arrived."
                )
            file = build(upload)
            tx.write(Set(paths[0], dump(file)), Delete(paths[1]))
            return file

        return await self._documents.transaction(work)

    async def begin_reading(self, uid: UserId, file_id: str) -> File | None:
        """Count an attempt to read a file; None where nothing is left to read."""

        def begin(file: File) -> File:
            return replace(file, attempt_count=file.attempt_count + 1)

        return await self._change(uid, file_id, begin)

    async def postpone_reading(self, uid: UserId, file_id: FileId) -> None:
        """Take back an attempt that found another file being read for long."""

        def postpone(file: File) -> File:
            return replace(
                file,
                attempt_count=file.attempt_count - 1,
                postponed_count=file.postponed_count + 1,
            )

        await self._change(uid, file_id, postpone)

    async def note_chunks(self, uid: UserId, file_id: FileId, count: int) -> bool:
        """Store how many rows are about to find a file; False where it is gone or was read."""
        noted = await self._change(uid, file_id, lambda file: replace(file, chunk_count=count))
        return noted is not None

    async def finish_reading(self, uid: UserId, read: File) -> bool:
        """Store what a file turned out to be; False where it is gone or was read before."""

        def finish(stored: File) -> File:
            return replace(read, project_ids=stored.project_ids)

        return await self._change(uid, read.id, finish) is not None

    async def take_out(self, uid: UserId, file_id: FileId) -> File | None:
        """Delete the document and return what it said; None where it is gone."""
        path = file_path(uid, file_id)

        async def work(tx: Transaction) -> File | None:
            document = await tx.get(path)
            if document is None:
                return None
            tx.write(Delete(path))
            return load(File, document)

        return await self._documents.transaction(work)

    async def count_bytes(self, uid: UserId) -> int:
        """Add up what they count as stored."""
        query = Query(collection=f"users/{uid}/files", fields=("size",))
        return sum(int(each.fields["size"]) for each in await self._documents.query(query))

    async def _change(
        self, uid: UserId, file_id: str, change: Callable[[File], File]
    ) -> File | None:
        path = file_path(uid, file_id)

        async def work(tx: Transaction) -> File | None:
            document = await tx.get(path)
            file = load(File, document) if document else None
            if file is None or file.status != "processing":
                return None
            changed = change(file)
            tx.write(Set(path, dump(changed)))
            return changed

        return await self._documents.transaction(work)


def file_path(uid: UserId, file_id: str) -> str:
    """Name the document of a file; what was read of it lies in blobs below the same path."""
    return f"users/{uid}/files/{file_id}"
