"""Uploads of a user: files on their way in, and how much of each arrived."""

from dataclasses import replace
from datetime import datetime

from shared.data.store.codec import dump, load
from shared.domain.errors import Conflict, Gone, NotFound, TooLarge
from shared.domain.files.upload import MAX_PARTS, BlobPart, Upload
from shared.domain.ids import UserId, is_id
from shared.domain.store.documents import Create, Delete, Document, Query, Set, Update
from shared.ports import Documents, Transaction

NOT_FOUND = "Upload not found"
EXPIRED = "This upload expired: it was not completed within 7 days. Start it again."


class Uploads:
    """Documents `users/{uid}/uploads/{id}`; the content lies in blobs beside them."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def add(self, uid: UserId, upload: Upload) -> None:
        await self._documents.write(Create(upload_path(uid, upload.id), dump(upload)))

    async def get(self, uid: UserId, upload_id: str, *, now: datetime) -> Upload:
        """Raises NotFound, and Gone for one that has expired."""
        if not is_id(upload_id):
            raise NotFound(NOT_FOUND)
        return load_upload(await self._documents.get(upload_path(uid, upload_id)), now)

    async def append(
        self, uid: UserId, upload_id: str, part: BlobPart, *, offset: int, now: datetime
    ) -> Upload:
        """Add a part that begins at `offset`; all of it or nothing.

        Raises Conflict where another byte is next, NotFound, Gone, and TooLarge beyond the length.
        """
        path = upload_path(uid, upload_id)

        async def work(tx: Transaction) -> Upload:
            upload = load_upload(await tx.get(path), now)
            if part in upload.parts:  # stored by an attempt of this transaction whose end was lost
                return upload
            check_part(upload, offset=offset, size=part.size)
            grown = replace(upload, offset=offset + part.size, parts=(*upload.parts, part))
            tx.write(Set(path, dump(grown)))
            return grown

        return await self._documents.transaction(work)

    async def count_bytes(self, uid: UserId) -> int:
        """Add up what they count as stored."""
        query = Query(collection=f"users/{uid}/uploads", fields=("length",))
        documents = await self._documents.query(query)
        return sum(int(document.fields["length"]) for document in documents)

    async def close(self, uid: UserId, upload_id: str, *, now: datetime) -> bool:
        """Let an upload expire at once; False where there is none."""
        if not is_id(upload_id):
            return False
        path = upload_path(uid, upload_id)

        async def work(tx: Transaction) -> bool:
            document = await tx.get(path)
            if document is not None:
                tx.write(Update(path, {"expires_at": now}))
            return document is not None

        return await self._documents.transaction(work)

    async def remove(self, uid: UserId, upload_id: str) -> Upload | None:
        """Delete the document and return what it said; None where it is gone."""
        path = upload_path(uid, upload_id)

        async def work(tx: Transaction) -> Upload | None:
            document = await tx.get(path)
            if document is None:
                return None
            tx.write(Delete(path))
            return load(Upload, document)

        return await self._documents.transaction(work)


def check_part(upload: Upload, *, offset: int, size: int) -> None:
    """Raises Conflict where another byte is next, and TooLarge beyond the length or MAX_PARTS."""
    if offset != upload.offset:
        raise Conflict(
            f"The upload has {upload.offset} bytes, so the next part begins there, not at {offset}."
        )
    if offset + size > upload.length:
        raise TooLarge(f"The upload was announced with {upload.length} bytes; these are more.")
    if len(upload.parts) >= MAX_PARTS:
        raise TooLarge(f"An upload has at most {MAX_PARTS} parts: start it again with larger ones.")


def load_upload(document: Document | None, now: datetime) -> Upload:
    """Raises NotFound, and Gone for one that has expired."""
    if document is None:
        raise NotFound(NOT_FOUND)
    upload = load(Upload, document)
    if upload.expires_at <= now:
        raise Gone(EXPIRED)
    return upload


def upload_path(uid: UserId, upload_id: str) -> str:
    """Name the document of an upload; the blobs of its content lie below the same path."""
    return f"users/{uid}/uploads/{upload_id}"
